"""Buttons that download a file and the card that says what made it."""

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any, Literal

import streamlit as st

from engine.export import CARD_ENDING, card_bytes

_MIME = {"csv": "text/csv", "html": "text/html"}


def with_card(
    label: str,
    make: Callable[[], bytes],
    file_name: str,
    *,
    key: str,
    facts: Callable[[], Mapping[str, Any]],
    about: str | None = None,
) -> None:
    """Draw the button of a file and that of its card; both are made when they are pressed."""
    ending = PurePath(file_name).suffix[1:]
    st.download_button(
        label,
        data=make,
        file_name=file_name,
        mime=_MIME[ending],
        key=key,
        on_click="ignore",
        icon=":material/download:",
        help=about,
    )
    card_button(file_name, lambda: card_bytes(facts(), file_name, ending, make()), key)


def card_button(
    file_name: str,
    make: Callable[[], bytes],
    key: str,
    width: Literal["content", "stretch"] = "content",
) -> None:
    """Draw the button that downloads the card of a file."""
    st.download_button(
        "Card",
        data=make,
        file_name=file_name + CARD_ENDING,
        key=f"{key}_card",
        on_click="ignore",
        type="tertiary",
        icon=":material/info:",
        width=width,
        help=f"What made {file_name}, as JSON. Keep it beside the file.",
    )
