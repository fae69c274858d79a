"""The engine's tables become plotly figures that sit on a light or a dark page alike."""

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from ui.chart_style import BARS, framed, shown

_MOST_BARS = 15


def coverage_figure(along: pd.DataFrame) -> go.Figure:
    """Return the share of labeled tokens in each stretch of the corpus, as bars."""
    first, last = along["first_sentence"] + 1, along["last_sentence"] + 1
    bars = go.Bar(
        x=(first + last) / 2,
        y=100 * along["token_share"],
        width=0.85 * (last - first + 1),
        marker_color=BARS,
        customdata=pd.concat([first, last, along["tokens"]], axis=1),
        hovertemplate="Sentences %{customdata[0]:,}–%{customdata[1]:,}<br>"
        "%{y:.1f} % of %{customdata[2]:,} tokens labeled<extra></extra>",
    )
    figure = framed(bars, height=220)
    figure.update_xaxes(title="Sentence (number in the corpus)", showgrid=False)
    figure.update_yaxes(title="Labeled tokens (%)", rangemode="tozero", nticks=5)
    return figure


def matches_figure(by_dictionary: pd.DataFrame, colors: Mapping[str, str]) -> go.Figure:
    """Return the matches of each type and dictionary as bars, the most frequent first.

    by_dictionary: dictionary, entity_type, phrases, matches.
    """
    top = by_dictionary.sort_values("matches", ascending=False, kind="stable").head(_MOST_BARS)
    names = [
        f"{shown(entity_type)} · {shown(dictionary)}"
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
    figure = framed(bars, height=90 + 38 * len(top))
    figure.update_xaxes(title="Matches (count)", rangemode="tozero", nticks=6, tickformat=",d")
    figure.update_yaxes(
        tickvals=list(range(len(top))), ticktext=names, autorange="reversed", showgrid=False
    )
    return figure
