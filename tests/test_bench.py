"""The benchmarks refuse options that cannot work together before anything is trained."""

import json
import sys
from importlib import import_module

import pytest

from bench import growth, quality, review, ui, validation
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
        (growth, ("--parts", "label,fly"), "fly: choose from label, train, predict"),
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


# ---- bench.ui and bench.growth --------------------------------------------------------------


@pytest.mark.parametrize("page", ["compare", "dictionaries", "labels", "review"])
def test_every_tab_of_a_page_is_measured(page):
    """The first tab is the one that is open at first."""
    assert ui.TABS[page] == ("", *import_module(f"ui.views.{page}.page").TABS[1:])


def test_growth_is_marked_where_it_is_steep_and_takes_long():
    cell = growth.Cell
    assert growth.marks({10: cell(1, 1, 9), 100: cell(11, 11, 9)}) == []
    assert growth.marks({10: cell(0.01, 0.01, 9), 100: cell(1, 1, 9)}) == []  # steep, but short
    assert growth.marks({10: cell(1, 1, 9), 100: cell(20, 20, 9)}) == ["1.3 at 100 tokens"]
    assert growth.marks({10: cell(1, 1, 9), 100: cell(20, 9, 9)}) == []  # others were busy
    assert growth.marks({10: cell(1, 1, 4_097)}) == ["4,097 MB at 10 tokens"]


def test_growth_goes_on_after_a_step_that_fails(monkeypatch, capsys, tmp_path):
    def start(step, folder, tokens, options):
        if step == "label" and tokens == 100:
            return {"failed": "more than 5 s"}
        return {} if step == "make" else {step: growth.Cell(tokens / 10, tokens / 10, 50)}

    monkeypatch.setattr(growth, "start", start)
    growth.main(["--tokens", "100,10", "--parts", "label,predict", "--data", str(tmp_path)])
    said = capsys.readouterr().out.splitlines()
    result = json.loads(said[-1])
    assert [row["step"] for row in result["rows"]] == ["label", "train", "predict"]
    assert result["failed"] == [{"step": "label", "tokens": 100, "why": "more than 5 s"}]
    assert [row["exponents"] for row in result["rows"]] == [{}, {"100": 1.0}, {"100": 1.0}]
    assert "commit" in result["environment"]


def test_growth_measures_a_tiny_project(monkeypatch, tmp_path):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "projects"))
    cells = {}
    for step in growth.steps_of(["label", "compare", "review"]):
        if step != "look":  # pages are opened in tests/app
            cells |= growth.do(step, tmp_path, 2_000, "quick")
    assert list(cells) == ["label", "compare", "review"]
    assert all(cell.seconds > 0 and cell.peak_mb > 0 for cell in cells.values())
    assert (tmp_path / "labels.csv").stat().st_size > 1_000
