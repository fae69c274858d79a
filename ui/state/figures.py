"""Make a chart once per content: the same table gives the same figure, for every visitor."""

import hashlib
import pickle
from collections.abc import Callable

import plotly.graph_objects as go
import streamlit as st

_KEPT = 64


def kept_figure(make: Callable[..., go.Figure], *content: object) -> go.Figure:
    """Return `make(*content)`, made only once per content; no view may change it."""
    # Nothing is unpickled. Streamlit's own hash skips rows of a large table.
    parts = pickle.dumps((make.__module__, make.__qualname__, content))
    return _figure(hashlib.sha256(parts).hexdigest(), make, content)


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _figure(key: str, _make: Callable[..., go.Figure], _content: tuple[object, ...]) -> go.Figure:
    return _make(*_content)
