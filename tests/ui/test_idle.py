"""What the app caches is given back when nobody uses it."""

import gc
import weakref

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


def test_garbage_is_collected_once_after_the_app_was_used(monkeypatch):
    class Ring:
        pass

    def make_garbage():
        ring = Ring()
        ring.itself = ring
        return weakref.ref(ring)

    monkeypatch.setattr(idle.time, "monotonic", lambda: 0.0)
    rest = idle.Rest()
    rest.look()
    gc.disable()
    try:
        left = make_garbage()
        rest.look()
        assert left() is not None
        rest.use()
        rest.look()
        assert left() is None
    finally:
        gc.enable()
