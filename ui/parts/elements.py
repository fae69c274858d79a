"""What all pages share: header, empty state, tables, notes, numbers as text, links to pages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from html import escape
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine.projects import Project
from engine.text import InputError
from ui.charts.palette import type_colors
from ui.parts.highlight import bullets, plain_markdown
from ui.state import current

_ICONS = {
    "success": ":material/check_circle:",
    "info": ":material/info:",
    "warning": ":material/warning:",
    "error": ":material/error:",
}


def plain(text: str) -> str:
    """Escape `text` so that a widget label or a caption shows it as it is."""
    return plain_markdown(text)


# ---- head and foot of a page ----------------------------------------------------------------


def page_header(title: str, purpose: str, chips: Sequence[str] = ()) -> None:
    """Draw the title, the purpose of the page, the project's state, and waiting messages."""
    st.title(title, anchor=False)
    shown = "".join(f'<span class="gl-chip">{escape(chip)}</span>' for chip in chips)
    line = f'<div class="gl-chips">{shown}</div>' if shown else ""
    if purpose or line:
        st.html(f'<div class="gl-purpose">{escape(purpose)}</div>{line}')
    for text, kind in current.take_messages():
        getattr(st, kind)(plain(text), icon=_ICONS[kind])


def project_chips(project: Project) -> list[str]:
    """Return the project's state in short phrases: how much text, which dictionaries."""
    sentences = sum(file.sentences for file in project.text_files())
    version = project.dictionary_version()
    dictionaries = f"dictionaries v{version}" if version else "no dictionaries yet"
    return [plural(sentences, "sentence") if sentences else "no text yet", dictionaries]


def next_step(label: str, page_name: str) -> None:
    """Draw the link to the next page."""
    page_link(f"Next: {label}", page_name, icon=":material/arrow_forward:")


def page_link(label: str, page_name: str, icon: str | None = None) -> None:
    """Draw a link to another page of the same project."""
    st.page_link(
        current.page(page_name), label=plain(label), icon=icon, query_params=current.address()
    )


def go_to(page_name: str) -> None:
    """Switch to another page of the same project."""
    st.switch_page(current.page(page_name), query_params=current.address())


def empty_state(sentence: str, link_label: str | None = None, page_name: str | None = None) -> None:
    """Say what is missing and how to get it, with a link to the page that provides it."""
    with st.container(border=True, gap="small"):
        st.html(f'<div class="gl-empty">{escape(sentence)}</div>')
        if link_label and page_name:
            page_link(link_label, page_name, icon=":material/arrow_forward:")


def command(text: str) -> None:
    """Draw the command that does the same as this page."""
    with st.expander("The same on the command line"):
        st.code(text, language="bash", wrap_lines=True)


def notes(sentences: Iterable[str], label: str = "Notes on the files") -> None:
    """Draw what was fixed, skipped or assumed in a closed expander; nothing if there is none."""
    listed = list(sentences)
    if listed:
        with st.expander(f"{label} ({len(listed):,})"):
            st.html(bullets(listed))


def warnings(sentences: Iterable[str]) -> None:
    """Draw what a person should act on, one box each."""
    for message in sentences:
        st.warning(plain(sentence(message)), icon=":material/warning:")


# ---- inside a page --------------------------------------------------------------------------


def show_input_error(error: InputError) -> None:
    """Draw an error that the user can fix; names in it are not read as markdown."""
    st.error(plain(sentence(str(error))), icon=_ICONS["error"])


@contextmanager
def explained() -> Iterator[None]:
    """Draw an error that the user can fix where it happens; the rest of the page is still drawn."""
    try:
        yield
    except InputError as error:
        show_input_error(error)


def sentence(message: str) -> str:
    """Return an error's message as a sentence; a file name at its start keeps its case.

    >>> sentence("no files were given"), sentence("a.txt is empty")
    ('No files were given.', 'a.txt is empty.')
    """
    message = message.strip()
    first = message.split(" ", 1)[0]
    started = message[:1].upper() + message[1:] if first.isalpha() else message
    return started if started.endswith((".", "?", "!")) else f"{started}."


def show_table(table: pd.DataFrame, columns: Mapping[str, Any], key: str, **options: Any) -> Any:
    """Draw a table with these columns and headings; an unknown value is shown as a dash.

    `options` go to st.dataframe, and its return value is returned: for example a selection.
    """
    counts = {
        name: st.column_config.NumberColumn(heading, format="localized")
        for name, heading in columns.items()
        if isinstance(heading, str) and pd.api.types.is_integer_dtype(table[name])
    }
    return st.dataframe(
        table,
        column_config={**columns, **counts},
        column_order=list(columns),
        hide_index=True,
        placeholder="–",
        key=key,
        **options,
    )


def side_by_side(name: str) -> DeltaGenerator:
    """Return a container that puts its parts side by side, or below each other when narrow."""
    return st.container(horizontal=True, gap="medium", key=f"pair_{name}")


def figure(label: str, value: str, under: str = "", help: str | None = None) -> None:
    """Draw one number and, below it, a line that explains it."""
    with st.container(width=164, gap=None):
        st.metric(label, value, help=help)
        if under:
            st.caption(plain(under))


def legend(types: Iterable[str]) -> None:
    """Draw the types in their colors."""
    colors = type_colors(types)
    items = (
        f'<mark class="gl-mark" style="--type:{color}">{escape(name)}</mark>'
        for name, color in colors.items()
    )
    st.html(f'<div class="gl-legend">{"".join(items)}</div>')


# ---- numbers as text ------------------------------------------------------------------------


def percent(share: float | None) -> str:
    """Return a share as percent with one decimal; a dash if it is unknown.

    >>> percent(0.0896), percent(None)
    ('9.0 %', '–')
    """
    return "–" if share is None or share != share else f"{100 * share:.1f} %"


def count(number: int | None) -> str:
    """Return a whole number with thousands separators; a dash if it is unknown.

    >>> count(1204), count(None)
    ('1,204', '–')
    """
    return "–" if number is None else f"{number:,}"


def plural(number: int, noun: str) -> str:
    """Return the number with its noun.

    >>> plural(1, "sentence"), plural(1204, "dictionary"), plural(2, "day")
    ('1 sentence', '1,204 dictionaries', '2 days')
    """
    if number == 1:
        return f"1 {noun}"
    takes_ies = noun.endswith("y") and noun[-2] not in "aeiou"
    return f"{number:,} {noun[:-1]}ies" if takes_ies else f"{number:,} {noun}s"


def size(number: int) -> str:
    """Return a number of bytes in a readable unit.

    >>> size(105), size(1_500), size(12_345_678)
    ('105 B', '2 kB', '12.3 MB')
    """
    for unit, bytes_per_unit in (("GB", 1e9), ("MB", 1e6)):
        if number >= bytes_per_unit:
            return f"{number / bytes_per_unit:.1f} {unit}"
    return f"{number / 1e3:.0f} kB" if number >= 1e3 else f"{number} B"


def ago(moment: datetime, now: datetime | None = None) -> str:
    """Return how long ago in plain words; the date if it is more than a month.

    >>> from datetime import timedelta
    >>> then = datetime(2026, 5, 3, 12, tzinfo=UTC)
    >>> ago(then, then), ago(then, then + timedelta(minutes=5)), ago(then, then + timedelta(days=2))
    ('just now', '5 min ago', '2 days ago')
    """
    seconds = ((now or datetime.now(UTC)) - moment).total_seconds()
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min ago"
    if seconds < 86_400:
        return f"{seconds / 3600:.0f} h ago"
    if seconds < 30 * 86_400:
        return f"{plural(round(seconds / 86_400), 'day')} ago"
    return f"{moment:%Y-%m-%d}"


def duration(seconds: float | None) -> str:
    """Return a rough duration; a dash if it is unknown.

    >>> duration(42), duration(130), duration(7_500), duration(None)
    ('42 s', '2 min', '2 h 5 min', '–')
    """
    if seconds is None:
        return "–"
    if seconds < 100:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
