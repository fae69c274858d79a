"""The benchmarks refuse options that cannot work together before anything is trained."""

import sys

import pytest

from bench import quality


def refused(monkeypatch, capsys, *options):
    command = ["quality", "bc5cdr_big", "--track", "clean", "--data", "nowhere", *options]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit):
        quality.main()
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("--method", "mpn", "--set", "ensemble=3"),
            "--curve-every is for one tagger, not for ensemble=3; leave one out",
        ),
        (("--method", "supervised"), "--curve-every is for mpn, "),
    ],
    ids=["ensemble", "method"],
)
def test_a_curve_needs_one_tagger(monkeypatch, capsys, options, said):
    assert said in refused(monkeypatch, capsys, *options, "--curve-every", "2")
