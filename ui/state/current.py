"""The open project, its pages, and messages for the next page; kept per visitor."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import streamlit as st

from engine.projects import SAMPLE_ID, Project, open_project, sample_project
from ui.state.visitor import visitor

_PROJECT, _PAGES, _MESSAGES = "project_id", "pages", "messages"
_COUNTERS = "uploader_counters"


class Message(NamedTuple):
    """A message to show once, on the next page that is drawn."""

    text: str
    kind: str = "success"  # or "info", "warning", "error"


def current_project() -> Project | None:
    """Return the project in the address, else the last open one, else the sample (first visit).

    None after the open project was closed or deleted; InputError if there is no such project.
    """
    project_id = st.query_params.get("project", "") or st.session_state.get(_PROJECT)
    if project_id is None:
        project_id = SAMPLE_ID
    if not project_id:
        return None
    is_sample = project_id == SAMPLE_ID
    project = sample_project() if is_sample else open_project(project_id, visitor())
    set_current(project.id)
    return project


def set_current(project_id: str | None) -> None:
    """Open this project, and put it into the address; None closes the open project."""
    st.session_state[_PROJECT] = project_id or ""
    if not project_id:
        st.query_params.pop("project", None)
    elif st.query_params.get("project") != project_id:
        st.query_params["project"] = project_id


def forget(project_id: str) -> None:
    """Close a deleted project if it is the open one."""
    if st.session_state.get(_PROJECT) == project_id:
        set_current(None)


def address() -> dict[str, str]:
    """Return the query parameters of every link within the app: the project."""
    project_id = st.session_state.get(_PROJECT, "")
    return {"project": project_id} if project_id else {}


# ---- pages ----------------------------------------------------------------------------------


def remember_pages(pages: Mapping[str, Any]) -> None:
    """Keep the app's pages by name, for links between them."""
    st.session_state[_PAGES] = dict(pages)


def page(name: str) -> Any:
    """Return the page with this name ("text", "labels", …), for Streamlit's links."""
    return st.session_state[_PAGES][name]


# ---- messages -------------------------------------------------------------------------------


def say(text: str, kind: str = "success") -> None:
    """Keep a message until the next page header is drawn, because a rerun would remove it."""
    st.session_state.setdefault(_MESSAGES, []).append(Message(text, kind))


def take_messages() -> list[Message]:
    """Return the kept messages, and forget them."""
    return st.session_state.pop(_MESSAGES, [])


# ---- uploaders ------------------------------------------------------------------------------


def uploader_key(name: str) -> str:
    """Return the uploader's key; `empty_uploader` changes it, which empties the uploader."""
    return f"{name}_{st.session_state.get(_COUNTERS, {}).get(name, 0)}"


def empty_uploader(name: str) -> None:
    """Remove the files from an uploader; otherwise their bytes would stay in memory."""
    counters = st.session_state.setdefault(_COUNTERS, {})
    counters[name] = counters.get(name, 0) + 1


def choose(key: str, value: object) -> None:
    """Set a widget's value from a button's callback, before the widget is drawn again."""
    st.session_state[key] = value
