"""Charts that compare methods: scores with intervals, counts, and which methods find the same."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from ui.charts.style import BARS, GRID, TEXT, framed, shown

_MOST_COMBINATIONS = 14
_ROW = 34  # pixels
_SHARES = {"precision": "Precision", "recall": "Recall", "f1": "F1"}  # columns of a score table


def scores_figure(table: pd.DataFrame, colors: Mapping[str, str]) -> go.Figure:
    """Return precision, recall and F1 side by side, one dot with its interval per method.

    table: name, precision, recall, f1, each with _low and _high; one row per method.
    """
    figure = _panels([f"{title} (%)" for title in _SHARES.values()])
    positions = list(range(len(table)))
    names = [shown(name) for name in table["name"]]
    for column, (share, title) in enumerate(_SHARES.items(), start=1):
        middle, low, high = (100 * table[share + end] for end in ("", "_low", "_high"))
        dots = go.Scatter(
            x=middle,
            y=positions,
            mode="markers+text",
            marker={"size": 10, "color": [colors[name] for name in table["name"]]},
            error_x={
                "type": "data",
                "array": high - middle,
                "arrayminus": middle - low,
                "color": TEXT,
                "thickness": 1.5,
                "width": 4,
            },
            text=["–" if value != value else f"{value:.1f}" for value in middle],
            textposition="top center",
            cliponaxis=False,
            customdata=list(zip(names, low, high, strict=True)),
            hovertemplate=f"%{{customdata[0]}}: {title.lower()} %{{x:.1f}} %, 95 % interval "
            "%{customdata[1]:.1f}–%{customdata[2]:.1f} %<extra></extra>",
        )
        figure.add_trace(dots, row=1, col=column)
    return _rows(framed(figure, height=96 + 46 * len(table)), names)


def seen_figure(table: pd.DataFrame, colors: Mapping[str, str]) -> go.Figure:
    """Return recall on gold entities that the dictionaries list, and on those they do not.

    table: name, group (seen, unseen), found, gold, recall, low, high.
    """
    sizes = table.groupby("group")["gold"].first()
    groups = {"seen": "Seen", "unseen": "Unseen"}
    titles = [f"{title} · {sizes.get(group, 0):,} in gold" for group, title in groups.items()]
    figure = _panels(titles)
    names: list[str] = []
    for column, group in enumerate(groups, start=1):
        rows = table[table["group"] == group]
        names = [shown(name) for name in rows["name"]]
        middle, low, high = (100 * rows[name] for name in ("recall", "low", "high"))
        bars = go.Bar(
            x=middle,
            y=list(range(len(rows))),
            orientation="h",
            width=0.55,
            marker_line_width=0,
            marker_color=[colors[name] for name in rows["name"]],
            text=["–" if value != value else f"{value:.1f} %" for value in middle],
            textposition="outside",
            cliponaxis=False,
            customdata=list(zip(names, rows["found"], rows["gold"], low, high, strict=True)),
            hovertemplate="%{customdata[0]} finds %{customdata[1]:,} of %{customdata[2]:,} "
            "(95 % interval %{customdata[3]:.1f}–%{customdata[4]:.1f} %)<extra></extra>",
        )
        figure.add_trace(bars, row=1, col=column)
    figure = _rows(framed(figure, height=96 + _ROW * len(names)), names)
    figure.update_xaxes(title="Recall (%)", range=[0, 128], tickvals=[0, 20, 40, 60, 80, 100])
    return figure


def alone_figure(table: pd.DataFrame, colors: Mapping[str, str]) -> go.Figure:
    """Return the number of entities that only one method finds, one bar per method.

    table: name, entities, only_here.
    """
    names = [shown(name) for name in table["name"]]
    return _counted(
        table["only_here"],
        names,
        [colors[name] for name in table["name"]],
        customdata=list(zip(names, table["entities"], strict=True)),
        hovertemplate="%{x:,} of the %{customdata[1]:,} entities of %{customdata[0]} are found by "
        "no other method<extra></extra>",
    )


def combinations_figure(table: pd.DataFrame, colors: Mapping[str, str]) -> go.Figure:
    """Return the number of entities per combination of methods: bars over a grid of dots.

    table: a column of bools per method, then places; the most frequent combination first.
    """
    top = table.head(_MOST_COMBINATIONS)
    methods = [name for name in table.columns if name != "places"]
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.03)
    positions = list(range(len(top)))
    texts = [_combination(row, methods) for row in top[methods].to_numpy().tolist()]
    bars = go.Bar(
        x=positions,
        y=top["places"],
        width=0.6,
        marker_line_width=0,
        marker_color=BARS,
        text=[f"{count:,}" for count in top["places"]],
        textposition="outside",
        cliponaxis=False,
        customdata=texts,
        hovertemplate="%{y:,} entities: %{customdata}<extra></extra>",
    )
    figure.add_trace(bars, row=1, col=1)
    for y, name in enumerate(methods):
        is_in = top[name].to_numpy(dtype=bool)
        dots = go.Scatter(
            x=positions,
            y=[y] * len(top),
            mode="markers",
            marker={"size": 12, "color": [colors[name] if filled else GRID for filled in is_in]},
            customdata=texts,
            hovertemplate="%{customdata}<extra></extra>",
        )
        figure.add_trace(dots, row=2, col=1)
    dots_height, bars_height = 28 * len(methods) + 10, 170
    figure = framed(figure, height=dots_height + bars_height + 30)
    share = dots_height / (dots_height + bars_height)
    figure.update_layout(
        yaxis={"domain": [share, 1], "title": "Entities (count)", "rangemode": "tozero"},
        yaxis2={
            "domain": [0, share - 0.03],
            "tickvals": list(range(len(methods))),
            "ticktext": [shown(name) for name in methods],
            "range": [len(methods) - 0.4, -0.6],
            "showgrid": False,
        },
        margin_t=24,
    )
    figure.update_yaxes(nticks=4, tickformat=",d", row=1, col=1)
    figure.update_xaxes(showticklabels=False, showgrid=False, range=[-0.6, len(top) - 0.4])
    return figure


def _combination(members: Sequence[bool], names: Sequence[str]) -> str:
    inside = [shown(name) for name, is_in in zip(names, members, strict=True) if is_in]
    if len(inside) == len(names):
        return "found by all"
    return f"found by {', '.join(inside)}{' only' if len(inside) == 1 else ' and no other'}"


def _panels(titles: Sequence[str]) -> go.Figure:
    return make_subplots(
        rows=1,
        cols=len(titles),
        shared_yaxes=True,
        horizontal_spacing=0.06,
        subplot_titles=list(titles),
    )


def _rows(figure: go.Figure, names: Sequence[str]) -> go.Figure:
    """Give each method a row, named at the left, in the order given; panels run to 100 %."""
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=list(names),
        range=[len(names) - 0.4, -0.8],
        showgrid=False,
    )
    if figure.layout.annotations:
        figure.update_xaxes(range=[0, 103], nticks=6, showgrid=True)
        figure.update_annotations(font={"size": 14, "color": TEXT}, yshift=4)
        figure.update_layout(margin_t=34)
    return figure


def counts_figure(counts: pd.DataFrame, colors: Mapping[str, str]) -> go.Figure:
    """Return the number of entities that each method finds, for all types together.

    counts: name, entity_type ("" for all), entities.
    """
    rows = counts[counts["entity_type"] == ""]
    names = [shown(name) for name in rows["name"]]
    return _counted(
        rows["entities"],
        names,
        [colors[name] for name in rows["name"]],
        customdata=names,
        hovertemplate="%{customdata}: %{x:,} entities<extra></extra>",
    )


def _counted(
    counts: pd.Series, names: Sequence[str], colors: Sequence[str], **hover: Any
) -> go.Figure:
    """Return numbers of entities, one bar per method."""
    bars = go.Bar(
        x=counts,
        y=list(range(len(names))),
        orientation="h",
        width=0.55,
        marker_line_width=0,
        marker_color=colors,
        text=[f"{count:,}" for count in counts],
        textposition="outside",
        cliponaxis=False,
        **hover,
    )
    figure = framed(bars, height=84 + _ROW * len(names))
    figure.update_xaxes(
        title="Entities (count)", rangemode="tozero", nticks=6, tickformat=",d", showgrid=True
    )
    return _rows(figure, names)
