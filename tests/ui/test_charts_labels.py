import pandas as pd
import pytest

from ui.charts.labels import (
    conflicts_figure,
    coverage_figure,
    errors_figure,
    matches_figure,
    per_sentence_figure,
    precision_figure,
)

COLORS = {"Chemical": "#E69F00", "Disease": "#56B4E9"}
ALONG = pd.DataFrame(
    {
        "first_sentence": [0, 10],
        "last_sentence": [9, 19],
        "tokens": [200, 100],
        "token_share": [0.05, 0.2],
        "sentence_share": [0.5, 0.9],
    }
)


def by_dictionary(*rows):
    return pd.DataFrame(rows, columns=["dictionary", "entity_type", "phrases", "matches"])


BY_DICTIONARY = by_dictionary(("a.txt", "Chemical", 5, 2), ("b.csv", "Disease", 9, 1_204))


PER_SENTENCE = pd.DataFrame({"matches": [0, 1, 2], "sentences": [5, 1_300, 2]})
CONFLICTS = pd.DataFrame(
    [("Chemical", "Disease", 4), ("Disease", "Chemical", 1)],
    columns=["winner_type", "loser_type", "times"],
)
ERRORS = {
    "Chemical": {"boundary": 1, "type": 0, "spurious": 2, "missed": 3},
    "Disease": {"boundary": 0, "type": 5, "spurious": 0, "missed": 9},
}
CHECKED = pd.DataFrame(
    [("a.txt", 12, 0.75, 0.5, 0.9), ("b.txt", 0, None, 0.0, 1.0), ("all", 12, 0.7, 0.4, 0.9)],
    columns=["dictionary", "checked", "precision", "low", "high"],
)
FIGURES = {
    "coverage": coverage_figure(ALONG),
    "matches": matches_figure(BY_DICTIONARY, COLORS),
    "per sentence": per_sentence_figure(PER_SENTENCE),
    "conflicts": conflicts_figure(CONFLICTS),
    "errors": errors_figure(ERRORS),
    "precision": precision_figure(CHECKED, "dictionary"),
}


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES.keys())
def test_figures_are_transparent_and_have_no_title(figure):
    assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert figure.layout.title.text is None


def test_coverage_figure_has_a_bar_in_percent_for_each_stretch():
    bars = coverage_figure(ALONG).data[0]
    assert list(bars.y) == [5, 20]
    assert list(bars.x) == [5.5, 15.5]  # the middle of sentences 1-10 and 11-20


def test_coverage_figure_names_its_axes_with_units():
    layout = coverage_figure(ALONG).layout
    assert layout.xaxis.title.text == "Sentence (number in the corpus)"
    assert layout.yaxis.title.text == "Labeled tokens (%)"


def test_matches_figure_puts_the_most_frequent_first_in_its_types_color():
    figure = matches_figure(BY_DICTIONARY, COLORS)
    bars = figure.data[0]
    assert list(bars.x) == [1_204, 2]
    assert list(bars.text) == ["1,204", "2"]
    assert list(bars.marker.color) == ["#56B4E9", "#E69F00"]
    assert list(figure.layout.yaxis.ticktext) == ["Disease · b.csv", "Chemical · a.txt"]
    assert figure.layout.xaxis.title.text == "Matches (count)"


def test_matches_figure_escapes_and_shortens_names():
    table = by_dictionary(("<b>x</b>", "Disease", 1, 2), ("y" * 50, "Disease", 1, 1))
    names = matches_figure(table, COLORS).layout.yaxis.ticktext
    assert names == ("Disease · &lt;b&gt;x&lt;/b&gt;", f"Disease · {'y' * 39}…")


def test_matches_figure_shows_a_limited_number_of_bars():
    table = by_dictionary(*((f"{i}.txt", "Disease", 1, i) for i in range(40)))
    assert len(matches_figure(table, COLORS).data[0].x) == 15


def test_per_sentence_figure_says_what_the_last_bar_stands_for():
    bars = FIGURES["per sentence"].data[0]
    assert list(bars.x) == ["0", "1", "2 or more"]
    assert list(bars.text) == ["5", "1,300", "2"]


def test_conflicts_figure_has_winners_in_rows_and_losers_in_columns():
    figure = FIGURES["conflicts"]
    assert figure.data[0].z.tolist() == [[0, 4], [1, 0]]
    assert list(figure.layout.yaxis.ticktext) == ["Chemical", "Disease"]
    assert list(figure.layout.yaxis.range) == [1.5, -0.5]  # the first row on top
    assert list(figure.data[1].text) == ["0", "4", "1", "0"]


def test_conflicts_figure_shows_a_limited_number_of_types_those_with_most_conflicts():
    rows = [(f"T{i:02}", "All", i) for i in range(1, 30)]
    table = pd.DataFrame(rows, columns=["winner_type", "loser_type", "times"])
    names = conflicts_figure(table).layout.yaxis.ticktext
    assert len(names) == 12
    assert names[0] == "All" and names[-1] == "T29"


def test_errors_figure_stacks_kinds_with_the_worst_type_first():
    figure = FIGURES["errors"]
    assert list(figure.layout.yaxis.ticktext) == ["Disease", "Chemical"]
    assert {bar.name: list(bar.x) for bar in figure.data} == {
        "Other boundaries": [0, 1],
        "Other type": [5, 0],
        "Not an entity": [0, 2],
        "Missed": [9, 3],
    }


def test_precision_figure_leaves_out_what_nobody_judged():
    figure = FIGURES["precision"]
    points = figure.data[0]
    assert list(figure.layout.yaxis.ticktext) == ["a.txt (12 checked)", "all (12 checked)"]
    assert list(points.x) == [75, 70]
    assert list(points.error_x.array) == pytest.approx([15, 20])
    assert list(points.error_x.arrayminus) == pytest.approx([25, 30])
    assert list(figure.data[1].text) == ["75 % [50–90]", "70 % [40–90]"]
