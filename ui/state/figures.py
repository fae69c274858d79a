"""Make a chart once per content: the same table gives the same figure, for every visitor."""

import hashlib
import pickle
from collections.abc import Callable

import plotly.graph_objects as go
import streamlit as st

_KEPT = 64


def kept_figure(make: Callable[..., go.Figure], *content: object, **options: object) -> go.Figure:
    """Return `make(*content, **options)`, made once per content; no view may change it."""
    # Nothing is unpickled. Streamlit's own hash skips rows of a large table.
    parts = pickle.dumps((make.__module__, make.__qualname__, content, options))
    return _figure(hashlib.sha256(parts).hexdigest(), lambda: make(*content, **options))


def ready(figure: go.Figure) -> go.Figure:
    """Return the figure, converted for the browser once and not each time that it is drawn."""
    converted = figure.to_dict()
    figure.__dict__["to_dict"] = lambda: converted
    return figure


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _figure(key: str, _make: Callable[[], go.Figure]) -> go.Figure:
    return ready(_make())
