"""Charts of entity scores: their distribution, and how far they can be trusted."""

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from ui.charts.end_labels import EndLabel, add_end_labels
from ui.charts.style import BARS, TEXT, framed, shown

FEWEST_ENTITIES = 10  # in a range of scores; with fewer, the share of correct ones says little
_PANEL = 118  # pixels


def histogram_figure(table: pd.DataFrame, colors: Mapping[str, str]) -> go.Figure:
    """Return the number of entities by score, one panel per method; with gold, correct and wrong.

    table: name, low, high, entities, correct (NaN without gold).
    """
    names = list(dict.fromkeys(table["name"]))
    figure = make_subplots(rows=len(names), cols=1, shared_xaxes=True, vertical_spacing=0.06)
    for row, name in enumerate(names, start=1):
        bins = table[table["name"] == name]
        has_gold = bool(bins["correct"].notna().any())
        correct = bins["correct"] if has_gold else bins["entities"]
        parts = [(correct, colors[name], "correct" if has_gold else "entities")]
        if has_gold:
            parts.append((bins["entities"] - bins["correct"], BARS, "wrong"))
        for counts, color, noun in parts:
            figure.add_trace(_bars(bins, counts, color, f"{shown(name)}: %{{y:,}} {noun}"), row, 1)
        figure.add_annotation(
            text=f"<b>{shown(name)}</b>",
            font={"color": colors[name]},
            x=0,
            y=1,
            xref="x domain",
            yref=f"y{row if row > 1 else ''} domain",
            xanchor="left",
            yanchor="top",
            showarrow=False,
        )
    figure = framed(figure, height=70 + _PANEL * len(names))
    figure.update_layout(barmode="stack", bargap=0.08)
    figure.update_xaxes(range=[0, 1], nticks=11, showgrid=False)
    figure.update_xaxes(title="Score of an entity", row=len(names), col=1)
    top = table["entities"].max() if len(table) else 1
    # One scale for all panels, so that their bars can be compared.
    figure.update_yaxes(range=[0, 1.08 * max(top, 1)], nticks=4, tickformat=",d")
    figure.update_yaxes(title="Entities", row=(len(names) + 1) // 2, col=1)
    return figure


def reliability_figure(table: pd.DataFrame, colors: Mapping[str, str]) -> go.Figure:
    """Return the share of correct entities by score; on the diagonal, scores can be trusted.

    table: name, low, high, entities, correct, mean_score, precision, precision_low,
    precision_high. Score ranges with few entities say little and are left out.
    """
    diagonal = go.Scatter(
        x=[0, 100], y=[0, 100], mode="lines", line={"color": TEXT, "dash": "dot"}, hoverinfo="skip"
    )
    figure = framed([diagonal], height=380)
    labels = []
    for name, bins in table[table["entities"] >= FEWEST_ENTITIES].groupby("name", sort=False):
        label, color = shown(str(name)), colors[str(name)]
        figure.add_trace(_reliability_line(bins, label, color))
        labels.append(EndLabel(label, color, *(100 * bins[["mean_score", "precision"]].iloc[-1])))
    add_end_labels(figure, labels, (0, 102))
    figure.update_layout(margin_r=96)
    figure.update_xaxes(title="Mean score (%)", range=[0, 102], nticks=6)
    figure.update_yaxes(title="Correct (%)", range=[0, 102], nticks=6)
    return figure


def _reliability_line(bins: pd.DataFrame, label: str, color: str) -> go.Scatter:
    return go.Scatter(
        x=100 * bins["mean_score"],
        y=100 * bins["precision"],
        mode="lines+markers",
        line={"color": color, "width": 2},
        marker={"size": 7},
        error_y={
            "type": "data",
            "array": 100 * (bins["precision_high"] - bins["precision"]),
            "arrayminus": 100 * (bins["precision"] - bins["precision_low"]),
            "thickness": 1,
            "width": 0,
        },
        cliponaxis=False,
        customdata=bins[["entities"]],
        hovertemplate=f"{label}: %{{customdata[0]:,}} entities with a score around %{{x:.0f}} %, "
        "%{y:.1f} % of them correct<extra></extra>",
    )


def _bars(bins: pd.DataFrame, counts: pd.Series, color: str, text: str) -> go.Bar:
    return go.Bar(
        x=(bins["low"] + bins["high"]) / 2,
        y=counts,
        width=0.92 * (bins["high"] - bins["low"]),
        marker_line_width=0,
        marker_color=color,
        customdata=bins[["low", "high"]],
        hovertemplate=text + ", score %{customdata[0]:.2f} to %{customdata[1]:.2f}<extra></extra>",
    )
