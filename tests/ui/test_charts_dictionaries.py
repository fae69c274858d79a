import pandas as pd

from ui.charts.dictionaries import length_figure, tail_figure, top_figure, type_figure
from ui.charts.text import length_figure as text_length_figure

COLORS = {"Disease": "#56B4E9", "<b>X": "#E69F00"}
RANKS = pd.DataFrame(
    {
        "rank": [1, 2, 3],
        "phrase": ["gout", "<script>", "cold"],
        "entity_type": ["Disease", "<b>X", "Disease"],
        "matches": [12, 5, 1],
    }
)


def test_types_are_bars_in_their_colors_most_matches_first():
    by_type = pd.DataFrame(
        {"entity_type": ["Disease", "<b>X"], "phrases": 3, "phrases_used": 2, "matches": [5, 1200]}
    )
    figure = type_figure(by_type, COLORS)
    [bars] = figure.data
    assert list(bars.x) == [1200, 5]
    assert list(bars.marker.color) == ["#E69F00", "#56B4E9"]
    assert list(figure.layout.yaxis.ticktext) == ["&lt;b&gt;X", "Disease"]


def test_frequent_phrases_are_named_and_escaped():
    figure = top_figure(RANKS, COLORS)
    assert list(figure.layout.yaxis.ticktext) == ["gout", "&lt;script&gt;", "cold"]
    assert figure.data[0].customdata[1] == "&lt;script&gt; (&lt;b&gt;X)"


def test_long_tail_has_a_tick_at_each_power_of_ten():
    figure = tail_figure(RANKS, COLORS)
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert list(figure.layout.yaxis.tickvals) == [1, 10, 100]
    assert figure.data[0].customdata[1] == "&lt;script&gt;"


def test_long_phrases_share_a_bar_that_says_so():
    lengths = pd.DataFrame({"words": [1, 8], "phrases": [5, 2], "used": [3, 1], "matches": [9, 1]})
    figure = length_figure(lengths)
    assert list(figure.layout.xaxis.ticktext) == ["1", "8 and more"]


def test_text_lengths_are_bars_that_name_their_range():
    table = pd.DataFrame({"first": [1, 3, 5], "last": [2, 4, 90], "count": [4, 0, 1]})
    [bars] = text_length_figure(table, "Sentences").data
    assert list(bars.x) == [1.5, 3.5, 5.5]
    assert list(bars.customdata) == ["1–2", "3–4", "5–90"]
