"""Heat maps: how far methods agree, and which types they confuse."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.graph_objects as go

from ui.charts.style import framed, shown

_MOST_TYPES = 12  # more cannot be read
# From pale to deep, in a color that no type and no method has. Opaque, so that the text on a cell
# can be read on a light and on a dark page.
_PALE, _DEEP = "#d9e3ec", "#2b6699"
_DARK_TEXT, _LIGHT_TEXT = "#17222b", "#ffffff"
_CELL = 46  # pixels


def agreement_figure(matrix: pd.DataFrame) -> go.Figure:
    """Return the agreement of each pair of methods in percent; the diagonal is left out."""
    names = [shown(name) for name in matrix.index]
    shares = 100 * matrix.to_numpy(dtype=float, copy=True)
    np.fill_diagonal(shares, np.nan)
    texts = [["" if x != x else f"{x:.0f} %" for x in row] for row in shares]
    hover_texts = [
        [
            "" if x != x else f"{a} and {b} agree on {x:.1f} % of what either finds"
            for b, x in zip(names, row, strict=True)
        ]
        for a, row in zip(names, shares, strict=True)
    ]
    figure = _heat_map(shares / 100, texts, hover_texts, names, names)
    figure.update_xaxes(side="top")
    return figure


def confusion_figure(table: pd.DataFrame, rows: str, columns: str) -> go.Figure:
    """Return entity counts by type on each side; colors show each cell's share of its row.

    table: square; its last row and column stand for "no entity". With more than twelve types,
    only the most frequent are shown.
    """
    kept = _frequent(table)
    counts = kept.to_numpy()
    names = [shown(str(name)) for name in kept.index]
    totals = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    texts = [[f"{n:,}" if n else "" for n in row] for row in counts.tolist()]
    if counts.size:
        texts[-1][-1] = ""  # "no entity" on both sides is not counted
    hover_texts = [
        [
            f"{n:,} of {total:,} {a} entities of {shown(rows)}: {b} in {shown(columns)}"
            for b, n in zip(names, row, strict=True)
        ]
        for a, row, total in zip(names, counts.tolist(), totals[:, 0].tolist(), strict=True)
    ]
    figure = _heat_map(counts / totals, texts, hover_texts, names, names)
    figure.update_xaxes(title=shown(columns), side="top")
    figure.update_yaxes(title=shown(rows))
    return figure


def _frequent(table: pd.DataFrame) -> pd.DataFrame:
    sizes = table.sum(axis=1).to_numpy() + table.sum(axis=0).to_numpy()
    sizes[-1] = sizes.max(initial=0) + 1  # always keep "none"
    order = np.sort(np.argsort(-sizes, kind="stable")[: _MOST_TYPES + 1])
    return table.iloc[order, order]


def _heat_map(
    values: npt.NDArray[np.float64],
    texts: Sequence[Sequence[str]],
    hover_texts: Sequence[Sequence[str]],
    rows: Sequence[str],
    columns: Sequence[str],
) -> go.Figure:
    """Return cells from 0 to 1 in one hue, each with a text in a color that can be read on it."""
    xs, ys = list(range(len(columns))), list(range(len(rows)))
    cells = go.Heatmap(
        z=values,
        x=xs,
        y=ys,
        xgap=3,
        ygap=3,
        zmin=0,
        zmax=1,
        colorscale=[[0, _PALE], [1, _DEEP]],
        showscale=False,
        customdata=hover_texts,
        hovertemplate="%{customdata}<extra></extra>",
    )
    deep = np.nan_to_num(values).ravel() > 0.7
    numbers = go.Scatter(
        x=xs * len(rows),
        y=[y for y in ys for _ in xs],
        mode="text",
        text=[text for row in texts for text in row],
        textfont={"color": [_LIGHT_TEXT if is_deep else _DARK_TEXT for is_deep in deep]},
        hoverinfo="skip",
    )
    figure = framed([cells, numbers], height=80 + _CELL * len(rows))
    figure.update_xaxes(tickvals=xs, ticktext=list(columns), showgrid=False)
    figure.update_yaxes(tickvals=ys, ticktext=list(rows), autorange="reversed", showgrid=False)
    return figure
