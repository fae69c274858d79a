"""Speeds that are kept once per data folder, and guesses before there are any."""

import json

import pytest

from engine import jobs
from engine.jobs.requests import settings_of
from engine.jobs.speeds import SPEEDS, Speed, keep_speeds, measured_speeds, rough_speeds
from engine.projects.workspace import create_project
from engine.settings import Settings
from tests.support.small_project import make_small_project, tiny_request


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path))
    return make_small_project(has_gold=False)


def keep(folder, *speeds, settings=None):
    keep_speeds(folder, settings or settings_of(tiny_request()), speeds)


def tokens(project):
    return sum(file.tokens for file in project.text_files())


def test_a_new_project_is_estimated_from_what_another_one_measured(project, tmp_path):
    keep(tmp_path, Speed("mpn", "training", 100.0))
    assert jobs.estimate(project, tiny_request()) == pytest.approx(2 * tokens(project) / 100)


def test_a_later_speed_replaces_an_earlier_one(project, tmp_path):
    keep(tmp_path, Speed("mpn", "training", 100.0), Speed("", "predict", 10.0))
    keep(tmp_path, Speed("mpn", "training", 300.0))
    speeds = measured_speeds(project, settings_of(tiny_request()))
    assert speeds["mpn", "training"].tokens_per_second == 300.0
    assert speeds["", "predict"].tokens_per_second == 10.0
    assert len(json.loads((tmp_path / SPEEDS).read_bytes())) == 2


def test_speeds_of_another_machine_do_not_count(project, tmp_path):
    keep(tmp_path, Speed("mpn", "training", 100.0))
    rows = json.loads((tmp_path / SPEEDS).read_bytes())
    rows[0]["machine"] = "elsewhere, 64 cores"
    (tmp_path / SPEEDS).write_text(json.dumps(rows))
    assert jobs.estimate(project, tiny_request()) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"{}",
        b"[1, {}]",
        b"[" * 100_000,
        b'[{"machine": "m", "network": "n", "method": "", "stage": "training", "device": "cpu",'
        b' "at": "", "tokens_per_second": NaN}]',
    ],
)
def test_a_damaged_file_counts_as_none_and_is_replaced(project, tmp_path, content):
    (tmp_path / SPEEDS).write_bytes(content)
    assert jobs.estimate(project, tiny_request()) is None
    keep(tmp_path, Speed("mpn", "training", 100.0))
    assert jobs.estimate(project, tiny_request()) > 0


def test_before_any_measurement_there_is_a_rough_estimate(project):
    assert jobs.estimate(project, tiny_request()) is None
    rough = jobs.rough_estimate(project, tiny_request())
    assert rough > 0
    assert jobs.rough_estimate(project, tiny_request(settings={"epochs": 200})) > 5 * rough
    assert jobs.rough_estimate(create_project("Empty"), tiny_request()) is None
    assert jobs.rough_estimate(project, jobs.SuggestRequest()) is None


def test_the_guess_meets_the_recorded_figures(project):
    with_encoder = rough_speeds(project, Settings(hidden_size=200, contextual_layer=3))
    without = rough_speeds(project, Settings(hidden_size=200, contextual_layer=0))
    assert with_encoder["", "training"].tokens_per_second == pytest.approx(6_600, rel=0.05)
    assert without["", "training"].tokens_per_second == pytest.approx(10_200, rel=0.05)


def test_a_guess_follows_the_pace_of_other_networks_on_this_machine(project, tmp_path):
    before = jobs.rough_estimate(project, tiny_request(settings={"hidden_size": 64}))
    guessed = rough_speeds(project, settings_of(tiny_request()))["", "training"]
    keep(tmp_path, Speed("mpn", "training", 3 * guessed.tokens_per_second))
    after = jobs.rough_estimate(project, tiny_request(settings={"hidden_size": 64}))
    assert after == pytest.approx(before / 3)
