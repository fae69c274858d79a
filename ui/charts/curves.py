"""Charts of a coverage curve: scores and coverage by share of the dictionary."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go

from ui.charts.end_labels import EndLabel, add_end_labels
from ui.charts.palette import METHOD_COLORS, METHOD_DASHES
from ui.charts.style import BARS, TEXT, framed

_HEIGHT = 340


class Measure(NamedTuple):
    """What a curve shows on its y-axis: a column of the points, its title, if it is a share."""

    column: str
    title: str
    is_share: bool = True


MEASURES = {
    "F1": Measure("f1", "F1 (%)"),
    "Precision": Measure("precision", "Precision (%)"),
    "Recall": Measure("recall", "Recall (%)"),
    "Entities": Measure("n_entities", "Entities (count)", is_share=False),
    "Coverage": Measure("token_coverage", "Labeled tokens (%)"),
}


def curve_figure(
    points: pd.DataFrame,
    measure: Measure,
    names: Mapping[str, str],
    *,
    shares: Sequence[int] = (),
    by_coverage: bool = False,
) -> go.Figure:
    """Return one line per method by share of the dictionary, with a faint band for its seeds.

    points: fraction, seed, method, precision, recall, f1, token_coverage, n_entities.  shares: all
    shares of the finished curve.  With `by_coverage`, the x-axis is what a share really covers:
    the labeled tokens.
    """
    figure = _framed([])
    known = points[points[measure.column].notna()]
    labels = []
    for method, method_points in known.groupby("method", sort=False):
        line = _line_of(method_points, measure, by_coverage)
        color, name = METHOD_COLORS.get(str(method), BARS), names.get(str(method), str(method))
        if (line["high"] > line["low"]).any():
            figure.add_trace(_band(line, color))
        figure.add_trace(_line(line, str(method), name, color, by_coverage))
        labels.append(EndLabel(name, color, *line[["x", "middle"]].iloc[-1].tolist()))
    y_range = value_range(known, measure)
    add_end_labels(figure, labels, y_range)
    figure.update_yaxes(title=measure.title, range=y_range, nticks=6, tickformat=",d")
    figure.update_layout(margin_r=88)
    if by_coverage:
        most = 100 * float(known["token_coverage"].max()) if len(known) else 1.0
        figure.update_xaxes(title="Labeled tokens (%)", range=[0, 1.04 * most], nticks=8)
    else:
        _shares_axis(figure, points, shares)
    return figure


def coverage_figure(points: pd.DataFrame, shares: Sequence[int] = ()) -> go.Figure:
    """Return the share of tokens that each share of the dictionary labels, for any method."""
    line = points.groupby("fraction", as_index=False)[["token_coverage", "n_terms"]].first()
    figure = _framed(
        go.Scatter(
            x=line["fraction"],
            y=100 * line["token_coverage"],
            mode="lines+markers+text",
            line={"color": METHOD_COLORS["dictionary"], "dash": METHOD_DASHES["dictionary"]},
            marker={"size": 7},
            text=[f"{100 * share:.1f}" for share in line["token_coverage"]],
            textposition="top center",
            cliponaxis=False,
            customdata=line["n_terms"],
            hovertemplate="%{x} % of the dictionary (%{customdata:,} phrases) labels %{y:.1f} % of "
            "the tokens<extra></extra>",
        )
    )
    most = 100 * float(line["token_coverage"].max()) if len(line) else 1.0
    figure.update_yaxes(title="Labeled tokens (%)", range=[0, 1.2 * max(most, 0.1)], nticks=6)
    figure.update_layout(margin_r=88)
    _shares_axis(figure, points, shares)
    return figure


def _framed(traces: Any) -> go.Figure:
    """Return a chart with room for a discreet camera button in its corner."""
    figure = framed(traces, height=_HEIGHT)
    clear = "rgba(0,0,0,0)"
    figure.update_layout(
        modebar={"bgcolor": clear, "color": TEXT, "activecolor": BARS}, margin_t=28
    )
    return figure


def value_range(points: pd.DataFrame, measure: Measure) -> tuple[float, float]:
    """Return the range of the y-axis: 0 to 100 % for scores, so that charts can be compared.

    Coverage is small, so its axis fits its values.
    """
    if measure.is_share and measure.column != "token_coverage":
        return (0.0, 102.0)
    top = float(points[measure.column].max()) if len(points) else 1.0
    return (0.0, 1.08 * max(top * (100 if measure.is_share else 1), 0.1))


def _line_of(points: pd.DataFrame, measure: Measure, by_coverage: bool) -> pd.DataFrame:
    """Return the mean over seeds at each share, with the lowest and highest value."""
    values = points.assign(value=(100 if measure.is_share else 1) * points[measure.column])
    by_share = values.groupby("fraction")
    line = pd.DataFrame(
        {
            "middle": by_share["value"].mean(),
            "low": by_share["value"].min(),
            "high": by_share["value"].max(),
            "seeds": by_share.size(),
            "coverage": 100 * by_share["token_coverage"].mean(),
        }
    ).reset_index()
    return line.assign(x=line["coverage"] if by_coverage else line["fraction"])


def _band(line: pd.DataFrame, color: str) -> go.Scatter:
    x, low, high = line["x"].tolist(), line["low"].tolist(), line["high"].tolist()
    return go.Scatter(
        x=x + x[::-1],
        y=high + low[::-1],
        fill="toself",
        fillcolor=_faint(color),
        line={"width": 0},
        mode="lines",
        hoverinfo="skip",
    )


def _line(line: pd.DataFrame, method: str, name: str, color: str, by_coverage: bool) -> go.Scatter:
    seeds = int(line["seeds"].max())
    spread = ", mean of %{customdata[1]} seeds (%{customdata[2]:,.1f}–%{customdata[3]:,.1f})"
    at = "%{customdata[0]} % of the dictionary"
    if by_coverage:
        at += ", %{x:.1f} % of tokens labeled"
    return go.Scatter(
        x=line["x"],
        y=line["middle"],
        mode="lines+markers",
        line={"color": color, "dash": METHOD_DASHES.get(method, "solid"), "width": 2.5},
        marker={"size": 8},
        name=name,
        customdata=line[["fraction", "seeds", "low", "high"]],
        hovertemplate=f"{name}: %{{y:,.1f}} at {at}{spread if seeds > 1 else ''}<extra></extra>",
        cliponaxis=False,
    )


def _shares_axis(figure: go.Figure, points: pd.DataFrame, shares: Sequence[int]) -> None:
    known = {*shares, *(points["fraction"].tolist() if len(points) else ())}
    figure.update_xaxes(
        title="Share of the dictionary (%)",
        range=[0, 102],
        tickvals=[0, *sorted(known)],
        showgrid=False,
        ticks="outside",
        tickcolor=TEXT,
    )


def _faint(color: str) -> str:
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.15)"
