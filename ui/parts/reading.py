"""Options for reading uploaded files, their progress, and buttons that fix what went wrong."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from engine.jobs import Reading
from engine.settings import ReadOptions
from engine.text import InputError
from ui.parts import elements, live
from ui.state import current, uploads

DETECT = "Detect"
ENCODINGS = {
    "utf-8": "UTF-8",
    "windows-1252": "Windows-1252 (Western)",
    "utf-16": "UTF-16",
    "iso-8859-2": "ISO-8859-2 (Central European)",
    "windows-1251": "Windows-1251 (Cyrillic)",
    "shift_jis": "Shift JIS",
    "gb18030": "GB 18030",
    "big5": "Big5",
    "euc_kr": "EUC-KR",
}
_OFFERED = ("windows-1252", "utf-16", "iso-8859-2", "shift_jis")  # as buttons, beside the list


def encoding_box(key: str) -> str | None:
    """Draw the choice of encodings; None means to detect it."""
    chosen = st.selectbox(
        "Encoding",
        [DETECT, *ENCODINGS],
        format_func=lambda name: ENCODINGS.get(name, name),
        key=f"{key}_encoding",
        width=200,
        help="Change it if letters with accents look wrong.",
    )
    return None if chosen == DETECT else chosen


def column_box(label: str, columns: Sequence[str], key: str) -> str | None:
    """Draw the choice of a column; None means to detect it."""
    chosen = st.selectbox(label, [DETECT, *columns], key=key, width=200)
    return None if chosen == DETECT else chosen


def skip_toggle(key: str) -> bool:
    """Draw the switch that leaves out lines that cannot be read."""
    return st.toggle(
        "Skip bad lines",
        key=f"{key}_skip",
        help="Lines that cannot be read are left out, and counted.",
    )


def show_fault(error: InputError, columns: Sequence[str], key: str, uploader: str) -> None:
    """Draw what is wrong with the files, and a button for each option that may fix it."""
    elements.show_input_error(error)
    with st.container(horizontal=True):
        if error.fix == "encoding":
            for name in _OFFERED:
                offer(f"Read as {ENCODINGS[name].split(' (')[0]}", f"{key}_encoding", name)
        elif error.fix == "text_column":
            for column in columns[:8]:
                offer(f"The text is in “{column}”", f"{key}_text_column", column)
        if "skip_bad_lines" in error.fixes:
            offer("Skip bad lines", f"{key}_skip", True)
        discard_button(key, uploader)


def discard_button(key: str, uploader: str) -> None:
    """Draw the button that empties the uploader."""
    st.button("Discard", key=f"{key}_discard", on_click=current.empty_uploader, args=(uploader,))


def offer(label: str, key: str, value: object) -> None:
    """Draw a button that sets a widget."""
    st.button(
        elements.plain(label), key=f"{key}_fix_{value}", on_click=current.choose, args=(key, value)
    )


def file_options(columns: Sequence[str], key: str) -> ReadOptions:
    """Draw the options for files of any kind; `columns` if they have some."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text_column = id_column = None
        if columns:
            text_column = column_box("Text column", columns, f"{key}_text_column")
            id_column = column_box("Id column", columns, f"{key}_id_column")
        encoding = encoding_box(key)
        skip = skip_toggle(key)
    return ReadOptions(
        text_column=text_column, id_column=id_column, encoding=encoding, skip_bad_lines=skip
    )


def preview_heading() -> None:
    """Draw the heading of files that are shown before they are saved."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader("Before you save", anchor=False, width="content")
        st.badge("Not saved yet", icon=":material/edit:", color="orange")


def show_progress(reading: Reading, key: str, doing: str) -> None:
    """Draw how far a process has read, with a button to cancel it, until it has ended."""

    def draw() -> None:
        if reading.is_cancelled:
            st.progress(reading.share, text="Stopping")
            return
        share = f", {reading.share:.0%}" if reading.share else ""
        st.progress(reading.share, text=f"{doing}{share}. You can go on working meanwhile.")
        st.button("Cancel", key=f"{key}_cancel", on_click=reading.cancel)

    live.redraw("1s", draw, lambda: reading.is_over)


def show_reading(reading: Reading, key: str, slot: str, uploader: str) -> None:
    """Draw a process that reads files for a preview: its progress, or that it was cancelled."""
    if not reading.is_over:
        show_progress(reading, key, "Reading")
        return
    st.info("Reading was cancelled. Nothing was changed.")
    with st.container(horizontal=True):
        st.button("Read again", key=f"{key}_again", on_click=uploads.forget, args=(slot,))
        discard_button(key, uploader)


def show_saving(
    reading: Reading,
    key: str,
    uploader: str,
    *,
    columns: Sequence[str] = (),
    doing: str = "Saving",
) -> Any:
    """Draw a process that saves files: its progress, or why it failed; return what it saved."""
    if not reading.is_over:
        show_progress(reading, f"{key}_saving", doing)
        return None
    if reading.is_cancelled:
        st.info(f"{doing} was cancelled. Nothing was changed.")
    else:
        try:
            saved = reading.outcome()
        except InputError as error:
            show_fault(error, columns, key, uploader)
        else:
            uploads.forget_saving(key)
            return saved
    st.button("Back", key=f"{key}_back", on_click=uploads.forget_saving, args=(key,))
    return None
