"""The benchmarks refuse options that cannot work together before anything is trained."""

import sys

import pytest

from bench import quality, review, validation
from engine.review.items import Item
from engine.text.model import Entity


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
            "--curve-every is for one tagger; add --set ensemble=1 is_self_trained=false",
        ),
        (("--method", "supervised"), "--curve-every is for mpn, "),
    ],
    ids=["ensemble", "method"],
)
def test_a_curve_needs_one_tagger(monkeypatch, capsys, options, said):
    assert said in refused(monkeypatch, capsys, *options, "--curve-every", "2")


# ---- bench.validation and bench.review ------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "words", "said"),
    [
        (validation, ("conll_kb", "--regret"), "conll_kb has no dictionary of which phrases"),
        (validation, ("--regret", "--presets", "fast"), "fast: choose from quick, balanced"),
        (validation, ("nowhere",), "'nowhere': choose from sample, bc5cdr_big"),
        (review, ("--queues", "longest"), "longest: choose from disagreement, uncertain"),
    ],
)
def test_unknown_words_are_refused_before_anything_is_trained(capsys, script, words, said):
    with pytest.raises(SystemExit):
        script.main(words)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("script", [validation, review])
def test_without_a_setting_the_sample_is_measured(monkeypatch, capsys, script):
    measured = []
    monkeypatch.setattr(script, "measure", lambda setting, *_: measured.append(setting))
    monkeypatch.setattr(script, "show", lambda *_: None)
    script.main([])
    assert measured == ["sample"]


def item(start, end, entity_type="X"):
    return Item("d", start, end, "w" * (end - start), entity_type, "mpn", None, (), start)


def test_a_simulated_person_accepts_what_is_in_the_gold_and_settles_what_overlaps_it():
    queue = [item(0, 4), item(0, 2), item(1, 3), item(8, 9, "Y"), item(10, 12)]
    gold = {"d": (Entity(0, 2, "X"), Entity(8, 9, "X"), Entity(10, 12, "X"))}
    steps = [(n, decisions[-1].place, decisions[-1].verdict)
             for n, decisions in review.simulate(queue, gold, 3)]  # fmt: skip
    assert steps == [
        (1, ("d", 0, 4, "X"), "rejected"),
        (2, ("d", 0, 2, "X"), "accepted"),
        (3, ("d", 8, 9, "Y"), "rejected"),
    ]
