"""Requests of jobs: what can be trained, and the command that does the same."""

import shlex
from dataclasses import replace

import pytest

from engine.cli.command_line import make_parser
from engine.cli.project_training import curve_request, train_request
from engine.jobs.requests import (
    CurveRequest,
    ProbeRequest,
    TrainRequest,
    check_request,
    command_of,
    probe_of,
)
from engine.planning.methods import METHODS

CHANGES = {"epochs": 3, "confidence_threshold": 0.7, "loss": "gce", "is_one_sample": False}


@pytest.mark.parametrize(
    "request_",
    [
        TrainRequest(),
        TrainRequest(tuple(METHODS), "paper", "transformer", CHANGES, 7),
        TrainRequest(("autoner",), priors={"Drug": 1 / 3, "Side = effect": 0.01}),
        TrainRequest(("mpu", "conf_mpu"), use_decisions=True),
        TrainRequest(hide=0.15),
        CurveRequest(),
        CurveRequest((10, 100), ("autoner", "mpn"), (0, 1, 2), "quick", CHANGES, "transformer"),
    ],
)
def test_the_command_of_a_request_asks_for_the_same_again(request_):
    program, *words = shlex.split(command_of("sample", request_))
    options = make_parser().parse_args(words)
    is_curve = isinstance(request_, CurveRequest)
    parsed = curve_request(options) if is_curve else train_request(options)
    assert (program, options.project) == ("glossa", "sample")
    # The command line lists the three methods of a run that names none in another order.
    assert set(parsed.methods) == set(request_.methods)
    assert replace(parsed, methods=request_.methods) == request_


def test_the_speed_is_measured_with_the_settings_of_the_request():
    train = TrainRequest(("autoner",), "paper", "transformer", CHANGES, 7, {"Drug": 0.1})
    assert probe_of(train) == ProbeRequest(("autoner",), "paper", "transformer", CHANGES, 7)
    curve = CurveRequest((20,), ("mpn",), (3, 4), "quick", CHANGES)
    assert probe_of(curve) == ProbeRequest(("mpn",), "quick", settings=CHANGES)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_trained(method):
    check_request(TrainRequest((method,)))
