import re

import numpy as np
import pandas as pd
import pytest

from ui.charts.certainty import histogram_figure, reliability_figure
from ui.charts.compare import (
    alone_figure,
    combinations_figure,
    counts_figure,
    scores_figure,
    seen_figure,
)
from ui.charts.curves import MEASURES, coverage_figure, curve_figure
from ui.charts.end_labels import EndLabel, add_end_labels, spread
from ui.charts.matrix import agreement_figure, confusion_figure
from ui.charts.style import framed
from ui.views.compare.score_table import Cell, Group, groups_html, number, scores_html, share
from ui.views.curves.cells import cells_html
from ui.views.curves.report import curve_report

COLORS = {"Dictionary": "#7d8791", "MPU": "#8a63d2", "<b>": "#000000"}
NAMES = {"dictionary": "Dictionary", "mpu": "MPU"}
SHARES = ("precision", "recall", "f1")


def score_rows(*names, **values):
    base = {share + end: 0.5 for share in SHARES for end in ("", "_low", "_high")}
    counts = {"correct": 1, "predicted": 2, "gold": 3}
    rows = [
        {"name": name, "entity_type": "All types", **base, **counts, **values} for name in names
    ]
    return pd.DataFrame(rows)


SEEN = pd.DataFrame(
    [("MPU", "seen", 1, 2, 0.5, 0.1, 0.9), ("MPU", "unseen", 0, 0, np.nan, 0, 1)],
    columns=["name", "group", "found", "gold", "recall", "low", "high"],
)
ALONE = pd.DataFrame({"name": ["Dictionary", "MPU"], "entities": [5, 9], "only_here": [1, 1_204]})
COMBINATIONS = pd.DataFrame(
    {"Dictionary": [True, False], "MPU": [True, True], "places": [30, 1_200]}
)
MATRIX = pd.DataFrame(
    [[1, 0.25], [0.25, 1]], index=["Dictionary", "MPU"], columns=["Dictionary", "MPU"]
)
CONFUSION = pd.DataFrame([[8, 2], [5, 0]], index=["Disease", "none"], columns=["Disease", "none"])
HISTOGRAM = pd.DataFrame(
    [("MPU", 0.0, 0.5, 3, 1.0), ("MPU", 0.5, 1.0, 9, 9.0)],
    columns=["name", "low", "high", "entities", "correct"],
)
RELIABILITY = pd.DataFrame(
    [("MPU", 0.8, 0.9, 50, 40, 0.85, 0.8, 0.7, 0.9), ("MPU", 0.9, 1.0, 3, 3, 0.95, 1, 0.4, 1)],
    columns=["name", "low", "high", "entities", "correct", "mean_score", "precision",
             "precision_low", "precision_high"],
)  # fmt: skip
COUNTS = pd.DataFrame({"name": ["MPU", "MPU"], "entity_type": ["", "X"], "entities": [1_204, 4]})


def points(*rows):
    columns = ["fraction", "seed", "method", "f1", "token_coverage", "n_entities"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(
        precision=table["f1"],
        recall=table["f1"],
        n_terms=table["fraction"],
        run_id="<r>",
        seconds=1.0,
    )


POINTS = points(
    (20, 0, "dictionary", 0.2, 0.01, 10),
    (20, 0, "mpu", 0.3, 0.01, 20),
    (20, 1, "mpu", 0.5, 0.01, 30),
    (100, 0, "dictionary", 0.4, 0.05, 40),
    (100, 0, "mpu", 0.6, 0.05, 50),
    (100, 1, "mpu", 0.6, 0.05, 60),
)
FIGURES = {
    "scores": lambda: scores_figure(score_rows("Dictionary", "MPU"), COLORS),
    "seen": lambda: seen_figure(SEEN, COLORS),
    "alone": lambda: alone_figure(ALONE, COLORS),
    "counts": lambda: counts_figure(COUNTS, COLORS),
    "combinations": lambda: combinations_figure(COMBINATIONS, COLORS),
    "agreement": lambda: agreement_figure(MATRIX),
    "confusion": lambda: confusion_figure(CONFUSION, "Gold", "MPU"),
    "histogram": lambda: histogram_figure(HISTOGRAM, COLORS),
    "reliability": lambda: reliability_figure(RELIABILITY, COLORS),
    "curve": lambda: curve_figure(POINTS, MEASURES["F1"], NAMES),
    "coverage": lambda: coverage_figure(POINTS),
}


@pytest.fixture(params=list(FIGURES))
def figure(request):
    return FIGURES[request.param]()


def test_figures_are_transparent_without_title_or_legend(figure):
    assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert figure.layout.title.text is None and figure.layout.showlegend is False


# ---- methods --------------------------------------------------------------------------------


def test_scores_are_in_percent_in_three_panels_of_one_scale():
    figure = scores_figure(score_rows("Dictionary", "MPU", f1=0.664, f1_low=0.64), COLORS)
    assert [list(trace.x) for trace in figure.data] == [[50, 50], [50, 50], [66.4, 66.4]]
    assert list(figure.data[2].error_x.arrayminus) == pytest.approx([2.4, 2.4])
    assert {tuple(axis.range) for axis in figure.select_xaxes()} == {(0, 103)}
    titles = [annotation.text for annotation in figure.layout.annotations]
    assert titles == ["Precision (%)", "Recall (%)", "F1 (%)"]
    assert figure.layout.yaxis.ticktext == ("Dictionary", "MPU")


def test_an_unknown_score_is_a_dash():
    table = score_rows("MPU", precision=np.nan)
    assert scores_figure(table, COLORS).data[0].text == ("–",)


def test_seen_and_unseen_share_a_scale_and_name_how_many_there_are():
    figure = seen_figure(SEEN, COLORS)
    titles = [annotation.text for annotation in figure.layout.annotations]
    assert titles == ["Seen · 2 in gold", "Unseen · 0 in gold"]
    assert [trace.text for trace in figure.data] == [("50.0 %",), ("–",)]


def test_combinations_say_who_is_in_them():
    figure = combinations_figure(COMBINATIONS, COLORS)
    assert list(figure.data[0].customdata) == ["found by all", "found by MPU only"]
    assert list(figure.data[0].text) == ["30", "1,200"]
    assert figure.data[1].marker.color[0] == COLORS["Dictionary"] != figure.data[1].marker.color[1]


def test_names_are_escaped():
    table = score_rows("<b>")
    assert scores_figure(table, COLORS).layout.yaxis.ticktext == ("&lt;b&gt;",)


# ---- matrices -------------------------------------------------------------------------------


def test_agreement_leaves_out_a_method_with_itself():
    figure = agreement_figure(MATRIX)
    assert list(figure.data[1].text) == ["", "25 %", "25 %", ""]


def test_confusion_colors_by_the_share_of_a_row_and_keeps_the_empty_corner():
    figure = confusion_figure(CONFUSION, "Gold", "MPU")
    assert figure.data[0].z.tolist() == [[0.8, 0.2], [1, 0]]
    assert list(figure.data[1].text) == ["8", "2", "5", ""]
    assert (figure.layout.yaxis.title.text, figure.layout.xaxis.title.text) == ("Gold", "MPU")


def test_confusion_of_many_types_shows_the_most_frequent_and_none():
    names = [f"T{i:02}" for i in range(40)] + ["none"]
    table = pd.DataFrame(np.diag(np.arange(41)), index=names, columns=names)
    shown = confusion_figure(table, "Gold", "MPU").layout.yaxis.ticktext
    assert shown == (*(f"T{i}" for i in range(28, 40)), "none")


# ---- certainty ------------------------------------------------------------------------------


def test_histogram_stacks_right_and_wrong_and_without_gold_all_in_one():
    right, wrong = histogram_figure(HISTOGRAM, COLORS).data
    assert (list(right.y), list(wrong.y)) == ([1, 9], [2, 0])
    (all_of_them,) = histogram_figure(HISTOGRAM.assign(correct=np.nan), COLORS).data
    assert list(all_of_them.y) == [3, 9]


def test_reliability_leaves_out_what_rests_on_few_entities():
    _, line = reliability_figure(RELIABILITY, COLORS).data
    assert list(line.x) == [85] and list(line.y) == [80]


# ---- curves ---------------------------------------------------------------------------------


def test_a_curve_is_the_mean_over_seeds_with_a_band_and_a_name_at_its_end():
    figure = curve_figure(POINTS, MEASURES["F1"], NAMES)
    dictionary, band, mpu = figure.data
    assert list(dictionary.x) == [20, 100] and list(dictionary.y) == [20, 40]
    assert list(mpu.y) == pytest.approx([40, 60])
    assert list(band.y) == pytest.approx([50, 60, 60, 30])  # upper edge, then lower edge back
    assert [label.text for label in figure.layout.annotations] == ["Dictionary", "MPU"]
    assert dictionary.line.dash == "dash" and mpu.line.color == COLORS["MPU"]


def test_curves_of_shares_have_one_range_so_that_they_can_be_compared():
    ranges = {tuple(curve_figure(POINTS, MEASURES[m], NAMES).layout.yaxis.range)
              for m in ("F1", "Precision", "Recall")}  # fmt: skip
    assert ranges == {(0, 102)}
    assert curve_figure(POINTS, MEASURES["Entities"], NAMES).layout.yaxis.range[1] > 60


def test_all_shares_have_a_place_before_their_points_are_there():
    figure = curve_figure(POINTS, MEASURES["F1"], NAMES, shares=(20, 60, 100))
    assert list(figure.layout.xaxis.tickvals) == [0, 20, 60, 100]


def test_a_curve_can_be_drawn_over_coverage():
    figure = curve_figure(POINTS, MEASURES["F1"], NAMES, by_coverage=True)
    assert list(figure.data[0].x) == [1, 5]
    assert figure.layout.xaxis.title.text == "Labeled tokens (%)"


def test_a_curve_of_points_without_scores_is_empty_and_does_not_fail():
    figure = curve_figure(POINTS.assign(f1=None), MEASURES["F1"], NAMES)
    assert not figure.data


def test_coverage_is_one_line_whatever_the_methods():
    (line,) = coverage_figure(POINTS).data
    assert list(line.y) == [1, 5] and list(line.text) == ["1.0", "5.0"]


@pytest.mark.parametrize(
    "values, expected",
    [([], []), ([5], [5]), ([1, 9], [1, 9]), ([4, 4, 4], [2, 4, 6]), ([0, 1, 9], [-0.5, 1.5, 9])],
)
def test_spread_moves_names_apart_and_no_further(values, expected):
    assert spread(values, 2) == expected


def test_names_keep_to_their_lines_when_there_is_room():
    figure = framed([], height=340)
    add_end_labels(figure, [EndLabel("a", "#000", 1, 20), EndLabel("b", "#000", 1, 80)], (0, 100))
    assert [note.y for note in figure.layout.annotations] == [20, 80]


# ---- tables as HTML -------------------------------------------------------------------------


def test_the_best_of_a_column_is_bold_and_nothing_where_all_are_equal():
    rows = {"MPU": [share(0.5), share(0.7)], "Dictionary": [share(0.5), share(0.6)]}
    html = groups_html(["Method", "P", "R"], [Group("", rows)], COLORS)
    assert "<td><b>70.0</b></td>" in html and html.count("<b>") == 1


def test_groups_are_ranked_separately_and_escaped():
    groups = [Group("<i>", {"<b>": [Cell("<u>")]}), Group("b", {"<b>": [number(1204)]})]
    html = groups_html(["<h>", "x"], groups, COLORS)
    for markup in ("<i>", "<u>", "<h>", "<b>"):
        assert markup not in html
    assert "<td>1,204</td>" in html


def test_unknown_figures_are_dashes():
    assert share(None).text == share(float("nan")).text == number(None).text == "–"


def test_scores_html_has_one_group_per_type_with_intervals_and_mean_scores():
    html = scores_html(score_rows("MPU", "Dictionary"), {("MPU", "All types"): 0.944}, COLORS)
    assert html.count('<tr class="g">') == 1
    assert '50.0 <span class="gl-interval">50.0–50.0</span>' in html
    assert "<td>0.94</td>" in html and "<td>–</td>" in html


def test_cells_have_one_row_per_method_or_seed():
    cells = pd.DataFrame(
        [(20, "mpu", 0, "done", ""), (40, "mpu", 0, "failed", "<why>"), (20, "x", 0, "queued", "")],
        columns=["fraction", "method", "seed", "state", "message"],
    )
    html = cells_html(cells, NAMES)
    assert html.count('<th scope="row">') == 2 and "seed" not in html
    assert 'title="&lt;why&gt;">✕ failed' in html
    assert html.count("<td></td>") == 1  # no such cell
    several = pd.concat([cells, cells.assign(seed=1)])
    assert cells_html(several, NAMES).count('<th scope="row">') == 4


def test_cells_have_their_methods_in_the_order_of_the_names():
    rows = [(20, method, 0, "done", "") for method in ("unnamed", *reversed(NAMES))]
    cells = pd.DataFrame(rows, columns=["fraction", "method", "seed", "state", "message"])
    shown = re.findall(r'<th scope="row">(.*?)</th>', cells_html(cells, NAMES))
    assert shown == [*NAMES.values(), "unnamed"]


def test_the_report_of_a_curve_needs_no_other_file_and_is_escaped():
    html = curve_report(POINTS, NAMES, "<t>")
    assert html.count("Plotly.newPlot") >= 6 and "<t>" not in html
    assert "cdn.plot.ly" not in html.split("<body>")[1][:2_000]
    without = curve_report(POINTS.assign(f1=None), NAMES, "t")
    assert "F1 by labeled tokens" not in without
