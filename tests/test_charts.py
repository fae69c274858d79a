import pandas as pd
import pytest

from ui.charts import coverage_figure, matches_figure

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


@pytest.fixture(params=["coverage", "matches"])
def figure(request):
    if request.param == "coverage":
        return coverage_figure(ALONG)
    return matches_figure(BY_DICTIONARY, COLORS)


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
