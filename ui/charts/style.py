"""The common style of all charts: axes and text that can be read on a light and a dark page."""

from collections.abc import Iterable
from html import escape
from typing import Any

import plotly.graph_objects as go

TEXT = "#7b8794"  # readable on both backgrounds
GRID = "rgba(128, 140, 150, 0.22)"
BARS = "#7b8794"  # neither a type's color nor a method's
CONFIG = {"displayModeBar": False}  # for st.plotly_chart: no buttons over the chart
_LONGEST_NAME = 40


def framed(traces: Any | Iterable[Any], *, height: int) -> go.Figure:
    """Return a chart of these traces, or of this figure, without title, legend or background."""
    layout = {
        "height": height,
        "margin": {"l": 8, "r": 48, "t": 8, "b": 8},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": TEXT, "size": 13},
        "showlegend": False,
        "dragmode": False,
    }
    axis = {
        "gridcolor": GRID,
        "zeroline": False,
        "automargin": True,
        "title": {"font": {"color": TEXT}},
        "tickfont": {"color": TEXT},
    }
    if isinstance(traces, go.Figure):  # with several axes
        traces.update_layout(layout)
        traces.update_xaxes(axis)
        traces.update_yaxes(axis)
        return traces
    # In one go: each update of a layout takes milliseconds.
    return go.Figure(traces, {**layout, "xaxis": axis, "yaxis": axis})


def shown(name: str) -> str:
    """Return the name, shortened if needed, and escaped because plotly reads markup in it.

    >>> shown("<b>gout")
    '&lt;b&gt;gout'
    """
    return escape(name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…")
