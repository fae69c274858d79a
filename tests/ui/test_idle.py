"""What the app caches is given back when nobody uses it."""

import streamlit as st

from ui.state import idle


def test_caches_are_emptied_once_when_the_app_is_idle(monkeypatch):
    made = []

    @st.cache_resource
    def cached(key):
        made.append(key)
        return object()

    now = [0.0]
    monkeypatch.setattr(idle.time, "monotonic", lambda: now[0])
    rest = idle.Rest()
    cached("text")
    now[0] = idle.IDLE_SECONDS - 1
    assert not rest.look()
    rest.use()
    now[0] += idle.IDLE_SECONDS - 1
    assert not rest.look()
    cached("text")
    assert made == ["text"]
    now[0] += 1
    assert rest.look() and not rest.look()
    cached("text")
    assert made == ["text", "text"]
