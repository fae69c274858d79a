import pandas as pd
import pytest

from ui.charts.palette import METHOD_COLORS, METHOD_DASHES
from ui.charts.style import TEXT
from ui.charts.training import common_range, confidence_figure, epochs_figure

NAMES = {"mpn": "MPN", "conf_mpu": "Conf-MPU"}
HISTOGRAM = pd.DataFrame(
    {"low": [0.0, 0.5], "high": [0.5, 1.0], "labeled": [1, 3], "unlabeled": [90, 10]}
)


def epochs(*rows, total=10):
    table = pd.DataFrame(rows, columns=["method", "epoch", "risk", "bounded"])
    return table.assign(epochs=total)


BOTH = epochs(("mpn", 1, 0.8, 0.0), ("mpn", 2, 0.5, 0.1), ("conf_mpu", 1, 0.7, 0.5))


@pytest.mark.parametrize(
    "figure",
    [epochs_figure(BOTH, "risk", NAMES, title="Risk"), confidence_figure(HISTOGRAM, 0.5)],
    ids=["epochs", "confidence"],
)
def test_figures_are_transparent_and_have_no_title(figure):
    assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert figure.layout.title.text is None


def test_each_method_has_a_line_in_its_own_style_named_at_its_end():
    figure = epochs_figure(BOTH, "risk", NAMES, title="Risk")
    assert [(list(line.x), list(line.y)) for line in figure.data] == [
        ([1, 2], [0.8, 0.5]),
        ([1], [0.7]),
    ]
    assert figure.data[1].line.color == METHOD_COLORS["conf_mpu"]
    assert figure.data[1].line.dash == METHOD_DASHES["conf_mpu"]
    ends = {(label.text, label.x, label.y) for label in figure.layout.annotations}
    assert ends == {("MPN", 2, 0.5), ("Conf-MPU", 1, 0.7)}
    assert not figure.layout.showlegend


def test_the_axis_reaches_to_the_last_epoch_from_the_start():
    figure = epochs_figure(BOTH, "risk", NAMES, title="Risk")
    assert list(figure.layout.xaxis.range) == [1, 10]
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("Epoch", "Risk")


def test_names_of_lines_that_end_at_one_place_do_not_cover_each_other():
    close = epochs(("mpn", 1, 0.5, 0), ("conf_mpu", 1, 0.5, 0), ("mpu", 1, 0.501, 0))
    figure = epochs_figure(close, "risk", NAMES, title="Risk")
    assert sorted(round(label.yshift) for label in figure.layout.annotations) == [0, 16, 32]


def test_shares_are_drawn_in_percent_on_the_whole_scale():
    figure = epochs_figure(BOTH, "bounded", NAMES, title="Share (%)", percent=True)
    assert list(figure.data[0].y) == [0, 10]
    assert list(figure.layout.yaxis.range) == [0, 103]


def test_a_long_training_is_thinned_and_keeps_its_last_epoch():
    long = epochs(*(("mpn", i, 1 / i, 0.0) for i in range(1, 1_001)), total=1_000)
    line = epochs_figure(long, "risk", NAMES, title="Risk").data[0]
    assert len(line.x) <= 401
    assert line.x[-1] == 1_000


def test_common_range_holds_all_values_and_zero():
    table = pd.DataFrame({"positive": [0.5, 1.0], "negative": [-1.0, 0.2]})
    low, high = common_range(table, ("positive", "negative"))
    assert low == pytest.approx(-1.12) and high == pytest.approx(1.12)
    assert common_range(table[["positive"]], ("positive",)) == (0.0, pytest.approx(1.06))
    assert common_range(table.head(0), ("positive",)) is None


def test_confidence_is_drawn_as_shares_of_each_side():
    figure = confidence_figure(HISTOGRAM, 0.5)
    unlabeled, labeled = figure.data
    assert list(unlabeled.y) == [90, 10]
    assert list(labeled.y) == [25, 75]
    assert figure.layout.shapes[0].x0 == 0.5
    assert figure.layout.shapes[0].line.color == TEXT  # seen on a dark page too


def test_confidence_without_labeled_tokens_is_not_an_error():
    empty = HISTOGRAM.assign(labeled=0)
    assert list(confidence_figure(empty).data[1].y) == [0, 0]
