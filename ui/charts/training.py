"""Charts of a training run: curves by epoch, and the confidence of the first tagger."""

import math
from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from ui.charts.palette import METHOD_COLORS, METHOD_DASHES
from ui.charts.style import BARS, TEXT, framed, shown

_MOST_POINTS = 400  # per line
_LABELED = "#3778ad"
_HEIGHT = 260  # pixels
_LINE_OF_TEXT = 16


def epochs_figure(
    epochs: pd.DataFrame,
    column: str,
    names: Mapping[str, str],
    *,
    title: str,
    percent: bool = False,
    y_range: tuple[float, float] | None = None,
) -> go.Figure:
    """Return one column of the epochs, as one line per method, named at its end.

    epochs: method, epoch, epochs and the column, all from one stage.
    """
    factor = 100 if percent else 1
    lines = []
    for method, method_epochs in epochs.groupby("method", sort=False):
        thinned = _thinned(method_epochs.sort_values("epoch"))
        lines.append(_line(str(method), thinned["epoch"], factor * thinned[column], names))
    figure = framed(lines, height=_HEIGHT)
    _name_ends(figure, y_range or ((0, 103) if percent else None))
    last = max(int(epochs["epochs"].max()), 2) if len(epochs) else 2
    # Show all epochs from the start, so that the lines grow and the axis stays the same.
    figure.update_xaxes(title="Epoch", range=[1, last], nticks=8, tickformat="d", showgrid=False)
    if last <= 8:
        figure.update_xaxes(dtick=1)  # otherwise plotly labels 1.2 and 1.4 as "1"
    figure.update_yaxes(title=title, nticks=5, range=y_range)
    if percent:
        figure.update_yaxes(range=[0, 103])
    elif y_range is None:
        figure.update_yaxes(rangemode="tozero")
    figure.update_layout(margin_r=84)  # for the names of the lines
    return figure


def common_range(epochs: pd.DataFrame, columns: tuple[str, ...]) -> tuple[float, float] | None:
    """Return a range that contains all values of these columns, so that charts can be compared."""
    if epochs.empty:
        return None
    values = epochs[list(columns)].to_numpy(float)
    low, high = min(0.0, float(values.min())), float(values.max())
    room = 0.06 * (high - low or 1)
    return (low - room if low < 0 else 0.0, high + room)


def confidence_figure(histogram: pd.DataFrame, threshold: float | None = None) -> go.Figure:
    """Return the confidence that labeled and unlabeled tokens are part of an entity.

    histogram: low, high (edges of a bin), labeled, unlabeled (numbers of tokens). The bars show
    shares, since there are many times more unlabeled tokens.
    """
    middle = (histogram["low"] + histogram["high"]) / 2
    width = histogram["high"] - histogram["low"]
    bars = []
    for column, name, color in (
        ("unlabeled", "Unlabeled tokens", BARS),
        ("labeled", "Labeled tokens", _LABELED),
    ):
        total = max(int(histogram[column].sum()), 1)
        bars.append(
            go.Bar(
                x=middle,
                y=100 * histogram[column] / total,
                width=width,
                name=name,
                marker={"color": color, "opacity": 0.6},
                customdata=histogram[["low", "high", column]],
                hovertemplate="%{customdata[2]:,} " + name.lower() + " with a confidence from "
                "%{customdata[0]:.2f} to %{customdata[1]:.2f}<extra></extra>",
            )
        )
    figure = framed(bars, height=_HEIGHT)
    figure.update_layout(
        barmode="overlay",
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        margin_t=36,
    )
    if threshold is not None:
        _mark(figure, threshold, "threshold")
    figure.update_xaxes(title="Confidence that a token is part of an entity", range=[0, 1])
    figure.update_yaxes(title="Share of tokens (%)", rangemode="tozero", nticks=5)
    return figure


def likely_figure(
    histogram: pd.DataFrame, colors: Mapping[str, str], cut: float | None
) -> go.Figure:
    """Return the confidence of the likeliest unlabeled tokens, by guessed type, and the cut.

    histogram: low, high (edges of a bin), and one column per type (numbers of tokens).
    """
    middle = (histogram["low"] + histogram["high"]) / 2
    width = histogram["high"] - histogram["low"]
    bars = [
        go.Bar(
            x=middle,
            y=histogram[name],
            width=width,
            name=shown(name),
            marker={"color": color, "opacity": 0.8},
            customdata=histogram[["low", "high"]],
            hovertemplate=f"%{{y:,}} {shown(name)} tokens with a confidence from "
            "%{customdata[0]:.2f} to %{customdata[1]:.2f}<extra></extra>",
        )
        for name, color in colors.items()
    ]
    figure = framed(bars, height=_HEIGHT)
    figure.update_layout(
        barmode="stack",
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "traceorder": "normal"},
        margin={"t": 36, "r": 8},
    )
    if cut is not None:
        _mark(figure, cut, "left out from here on")
    figure.update_xaxes(title="Confidence that a token is part of an entity", nticks=6)
    figure.update_yaxes(title="Unlabeled tokens", rangemode="tozero", nticks=5)
    return figure


def _mark(figure: go.Figure, x: float, text: str) -> None:
    """Draw a vertical line with a text beside its upper end."""
    figure.add_vline(x=x, line={"color": TEXT, "dash": "dot", "width": 1.5})
    figure.add_annotation(
        x=x, y=1, yref="paper", text=text, showarrow=False, xanchor="left", xshift=4
    )


def _line(method: str, x: pd.Series, y: pd.Series, names: Mapping[str, str]) -> go.Scatter:
    name = names.get(method, method)
    return go.Scatter(
        x=x,
        y=y,
        mode="lines+markers" if len(x) < 30 else "lines",
        line={"color": METHOD_COLORS[method], "dash": METHOD_DASHES[method], "width": 2},
        marker={"size": 4},
        cliponaxis=False,
        name=name,
        hovertemplate=f"{name}, epoch %{{x}}: %{{y:.4g}}<extra></extra>",
    )


def _name_ends(figure: go.Figure, y_range: tuple[float, float] | None) -> None:
    """Write each line's name at its end, moved up where it would cover the one below."""
    lines = [line for line in figure.data if len(line.x)]
    values = [float(y) for line in lines for y in line.y] or [0.0]
    low, high = y_range or (min(0.0, *values), max(values))
    pixels = (_HEIGHT - 70) / ((high - low) or 1)  # per unit of the y-axis
    taken = -math.inf
    for line in sorted(lines, key=lambda line: float(line.y[-1])):
        at = float(line.y[-1]) * pixels
        taken = max(at, taken + _LINE_OF_TEXT)
        figure.add_annotation(
            x=line.x[-1],
            y=line.y[-1],
            text=line.name,
            font={"color": line.line.color},
            showarrow=False,
            xanchor="left",
            xshift=8,
            yshift=taken - at,
        )


def _thinned(table: pd.DataFrame) -> pd.DataFrame:
    """Return every n-th row and the last, so that the chart of a long training stays small."""
    step = -(-len(table) // _MOST_POINTS)
    return table if step <= 1 else pd.concat([table.iloc[:-1:step], table.tail(1)])
