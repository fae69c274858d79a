"""Charts of the text: the lengths of sentences and documents."""

import pandas as pd
import plotly.graph_objects as go

from ui.charts.style import BARS, framed


def length_figure(lengths: pd.DataFrame, unit: str) -> go.Figure:
    """Return a histogram of lengths in tokens.

    lengths: first, last (both included), count.  unit: what is counted, such as "Sentences".
    The last bar includes everything longer, so it may stand for a wider range than it shows.
    """
    names = [
        f"{first:,}" if first == last else f"{first:,}–{last:,}"
        for first, last in zip(lengths["first"], lengths["last"], strict=True)
    ]
    step = int(lengths["first"].diff().iloc[-1]) if len(lengths) > 1 else 1
    middles = lengths["first"] + (step - 1) / 2
    bars = go.Bar(
        x=middles,
        y=lengths["count"],
        width=0.88 * step,
        marker_color=BARS,
        customdata=names,
        hovertemplate="%{customdata} tokens: %{y:,}<extra></extra>",
    )
    figure = framed(bars, height=220)
    figure.update_xaxes(title="Tokens", showgrid=False, tickformat=",d", nticks=8)
    figure.update_yaxes(title=unit, rangemode="tozero", nticks=5, tickformat=",d")
    return figure
