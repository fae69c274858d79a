"""The engine's tables become plotly figures that sit on a light or a dark page alike."""

from collections.abc import Mapping
from html import escape

import pandas as pd
import plotly.graph_objects as go

_TEXT = "#7b8794"  # readable on both backgrounds
_GRID = "rgba(128, 140, 150, 0.22)"
_BARS = "#7b8794"  # neither a type's color nor a method's
_MOST_BARS = 15
_LONGEST_NAME = 40


def coverage_figure(along: pd.DataFrame) -> go.Figure:
    """Return the share of labeled tokens in each stretch of the corpus, as bars."""
    first, last = along["first_sentence"] + 1, along["last_sentence"] + 1
    bars = go.Bar(
        x=(first + last) / 2,
        y=100 * along["token_share"],
        width=0.85 * (last - first + 1),
        marker_color=_BARS,
        customdata=pd.concat([first, last, along["tokens"]], axis=1),
        hovertemplate="Sentences %{customdata[0]:,}–%{customdata[1]:,}<br>"
        "%{y:.1f} % of %{customdata[2]:,} tokens labeled<extra></extra>",
    )
    figure = _figure(bars, height=220)
    figure.update_xaxes(title="Sentence (number in the corpus)", showgrid=False)
    figure.update_yaxes(title="Labeled tokens (%)", rangemode="tozero", nticks=5)
    return figure


def matches_figure(by_dictionary: pd.DataFrame, colors: Mapping[str, str]) -> go.Figure:
    """Return the matches of each type and dictionary as bars, the most frequent first.

    by_dictionary: dictionary, entity_type, phrases, matches.
    """
    top = by_dictionary.sort_values("matches", ascending=False, kind="stable").head(_MOST_BARS)
    names = [
        f"{_shown(entity_type)} · {_shown(dictionary)}"
        for entity_type, dictionary in zip(top["entity_type"], top["dictionary"], strict=True)
    ]
    bars = go.Bar(
        x=top["matches"],
        # Positions, so that two long names that are cut alike keep a bar each.
        y=list(range(len(top))),
        orientation="h",
        width=0.6,
        marker_color=[colors[name] for name in top["entity_type"]],
        text=[f"{count:,}" for count in top["matches"]],
        textposition="outside",
        cliponaxis=False,
        customdata=list(zip(names, top["phrases"], strict=True)),
        hovertemplate="%{customdata[0]}<br>%{x:,} matches, %{customdata[1]:,} phrases"
        "<extra></extra>",
    )
    figure = _figure(bars, height=90 + 38 * len(top))
    figure.update_xaxes(title="Matches (count)", rangemode="tozero", nticks=6, tickformat=",d")
    figure.update_yaxes(
        tickvals=list(range(len(top))), ticktext=names, autorange="reversed", showgrid=False
    )
    return figure


def _figure(bars: go.Bar, *, height: int) -> go.Figure:
    figure = go.Figure(bars)
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 48, "t": 8, "b": 8},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": _TEXT, "size": 13},
        showlegend=False,
        dragmode=False,
    )
    figure.update_xaxes(
        gridcolor=_GRID,
        zeroline=False,
        automargin=True,
        title_font_color=_TEXT,
        tickfont_color=_TEXT,
    )
    figure.update_yaxes(
        gridcolor=_GRID,
        zeroline=False,
        automargin=True,
        title_font_color=_TEXT,
        tickfont_color=_TEXT,
    )
    return figure


def _shown(name: str) -> str:
    """The name, not too long; plotly would read markup in it, so that is escaped."""
    return escape(name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…")
