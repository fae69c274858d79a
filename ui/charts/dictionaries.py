"""Figures about dictionaries: matches by type, the long tail, and the length of phrases."""

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from ui.charts.style import BARS, framed, shown

_NAMED = 20  # phrases that are shown by name
_MOST_TYPES = 20


def type_figure(by_type: pd.DataFrame, colors: Mapping[str, str]) -> go.Figure:
    """Return the matches of each type as bars, most first.

    by_type: entity_type, phrases, phrases_used, matches.
    """
    top = by_type.sort_values("matches", ascending=False, kind="stable").head(_MOST_TYPES)
    bars = go.Bar(
        x=top["matches"],
        y=list(range(len(top))),
        orientation="h",
        width=0.6,
        marker_color=[colors[name] for name in top["entity_type"]],
        text=[f"{count:,}" for count in top["matches"]],
        textposition="outside",
        constraintext="none",
        cliponaxis=False,
        customdata=top[["phrases_used", "phrases"]],
        hovertemplate="%{x:,} matches of %{customdata[0]:,} phrases "
        "(%{customdata[1]:,} in the dictionaries)<extra></extra>",
    )
    figure = framed(bars, height=90 + 38 * len(top))
    figure.update_xaxes(title="Matches (count)", rangemode="tozero", nticks=6, tickformat=",d")
    figure.update_yaxes(
        tickvals=list(range(len(top))),
        ticktext=[shown(name) for name in top["entity_type"]],
        autorange="reversed",
        showgrid=False,
    )
    return figure


def tail_figure(ranks: pd.DataFrame, colors: Mapping[str, str]) -> go.Figure:
    """Return matches over rank, both logarithmic, in the colors of the types.

    Names are shown on hover; labels would cover the curve.
    """
    points = go.Scatter(
        x=ranks["rank"],
        y=ranks["matches"],
        mode="markers",
        marker={"color": [colors[name] for name in ranks["entity_type"]], "size": 7},
        customdata=[shown(name) for name in ranks["phrase"]],
        hovertemplate="%{customdata}<br>rank %{x:,}: %{y:,} matches<extra></extra>",
    )
    figure = framed(points, height=320)
    figure.update_xaxes(
        title="Rank of the phrase (1 = most matches)", **_logarithmic(ranks["rank"])
    )
    figure.update_yaxes(title="Matches (count)", **_logarithmic(ranks["matches"]))
    return figure


def top_figure(ranks: pd.DataFrame, colors: Mapping[str, str]) -> go.Figure:
    """Return the most frequent phrases by name, as bars."""
    top = ranks.head(_NAMED)
    bars = go.Bar(
        x=top["matches"],
        y=list(range(len(top))),
        orientation="h",
        width=0.62,
        marker_color=[colors[name] for name in top["entity_type"]],
        customdata=[f"{shown(name)} ({shown(entity_type)})" for name, entity_type in _pairs(top)],
        hovertemplate="%{customdata}: %{x:,} matches<extra></extra>",
    )
    figure = framed(bars, height=80 + 20 * len(top))
    figure.update_xaxes(title="Matches (count)", rangemode="tozero", nticks=6, tickformat=",d")
    figure.update_yaxes(
        tickvals=list(range(len(top))),
        ticktext=[shown(name) for name in top["phrase"]],
        autorange="reversed",
        showgrid=False,
    )
    return figure


def length_figure(lengths: pd.DataFrame) -> go.Figure:
    """Return matches by the number of words in a phrase; lengths: words, phrases, used, matches."""
    last = int(lengths["words"].max()) if len(lengths) else 0
    bars = go.Bar(
        x=lengths["words"],
        y=lengths["matches"],
        width=0.7,
        marker_color=BARS,
        text=[f"{count:,}" for count in lengths["matches"]],
        textposition="outside",
        constraintext="none",
        cliponaxis=False,
        customdata=lengths[["phrases", "used"]],
        hovertemplate="%{y:,} matches of %{customdata[1]:,} phrases "
        "(%{customdata[0]:,} in the dictionaries)<extra></extra>",
    )
    figure = framed(bars, height=260)
    words = lengths["words"].tolist()
    names = [f"{n} and more" if n == last == 8 else str(n) for n in words]
    figure.update_xaxes(title="Words in the phrase", tickvals=words, ticktext=names, showgrid=False)
    figure.update_yaxes(title="Matches (count)", rangemode="tozero", nticks=5, tickformat=",d")
    figure.update_layout(margin_t=24)
    return figure


def _pairs(top: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(top["phrase"], top["entity_type"], strict=True))


def _logarithmic(values: pd.Series) -> dict[str, object]:
    """Return a logarithmic axis with a tick at each power of ten."""
    highest = int(values.max()) if len(values) else 1
    ticks = [10**i for i in range(len(str(highest)) + 1)]
    return {
        "type": "log",
        "tickvals": ticks,
        "ticktext": [f"{tick:,}" for tick in ticks],
    }
