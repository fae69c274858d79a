"""The tab Phrases: find doubtful phrases, mute them, or give them another type."""

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from engine.dictionaries import NEVER, PhraseRow, is_pattern
from engine.projects import Project
from ui.parts import elements
from ui.state import current
from ui.views.dictionaries import state as state

PAGE_SIZE = 200
ALL, FLAGGED, UNUSED, MUTED = "All", "With a remark", "Without a match", "Muted"
PATTERNS = "Patterns"
ORDERS = {
    "Most matches": (["matches", "phrase"], [False, True]),
    "Fewest matches": (["matches", "phrase"], [True, True]),
    "A to Z": (["phrase"], [True]),
    "Longest": (["length", "phrase"], [False, True]),
    "Shortest": (["length", "phrase"], [True, True]),
}
OTHER = "Another type …"


def show(project: Project) -> None:
    """Draw the phrases, page by page, and the actions on selected ones."""
    table = state.phrase_rows(project)
    names = [dictionary.name for dictionary in state.read_dictionaries(project)]
    shown, key = show_filters(table, names)
    if shown.empty:
        st.info("No phrase matches these filters.")
        return
    pages = -(-len(shown) // PAGE_SIZE)
    page = st.pagination(pages, key=f"phrases_page {key}") if pages > 1 else 1
    first = PAGE_SIZE * (page - 1)
    here = shown.iloc[first : first + PAGE_SIZE]
    last = first + len(here)
    st.caption(
        f"Phrases {first + 1:,}–{last:,} of {len(shown):,}. Select some in the first column to "
        "mute them or to give them another type."
    )
    columns: dict[str, Any] = {"phrase": st.column_config.TextColumn("Phrase", width="medium")}
    columns |= {"entity_type": "Type", "dictionary": "Dictionary", "matches": "Matches"}
    columns |= {"flags": "Remarks", "state": "State"}
    place = st.container()  # above the table, where it is visible
    chosen = elements.show_table(
        here.assign(state=here["is_muted"].map({True: "muted", False: ""})),
        columns,
        f"phrases_table {key} {page} {project.dictionary_version()}",
        on_select="rerun",
        selection_mode="multi-row",
        height=min(38 + 35 * len(here), 440),
    )
    rows = [row for row in chosen["selection"]["rows"] if row < len(here)]
    with place:
        show_actions(project, here.iloc[rows])


def show_filters(table: pd.DataFrame, names: Sequence[str]) -> tuple[pd.DataFrame, str]:
    """Draw the filters; return the matching phrases in order, and a key of the choices."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        are_patterns = table["phrase"].map(is_pattern).astype(bool)
        kinds = [ALL, FLAGGED, UNUSED, MUTED, *([PATTERNS] if are_patterns.any() else [])]
        kind = st.segmented_control(
            "Phrases", kinds, default=ALL, required=True, key="phrases_kind"
        )
        words = st.text_input(
            "Search", key="phrases_search", placeholder="Part of a phrase", width=200
        ).strip()
        types = st.multiselect(
            "Types", sorted(set(table["entity_type"])), key="phrases_types", width=200,
            placeholder="All types",
        )  # fmt: skip
        files = st.multiselect(
            "Dictionaries", names, key="phrases_files", width=220, placeholder="All dictionaries"
        )
        order = st.selectbox("Order", list(ORDERS), key="phrases_order", width=170)
    passes = pd.Series(True, index=table.index)
    if kind == FLAGGED:
        passes &= table["flags"] != ""
    elif kind == UNUSED:
        passes &= (table["matches"] == 0).fillna(False).astype(bool)
    elif kind == MUTED:
        passes &= table["is_muted"]
    elif kind == PATTERNS:
        passes &= are_patterns
    if words:
        passes &= table["phrase"].str.contains(words, case=False, regex=False)
    if types:
        passes &= table["entity_type"].isin(types)
    if files:
        passes &= table["dictionary"].isin(files)
    by, ascending = ORDERS[order]
    shown = table[passes]
    shown = shown.assign(length=shown["phrase"].str.len())
    ordered = shown.sort_values(by, ascending=ascending, kind="stable")
    return ordered, f"{kind} {words} {types} {files} {order}"


def show_actions(project: Project, chosen: pd.DataFrame) -> None:
    """Draw the buttons for the selected phrases."""
    is_empty = chosen.empty
    columns = (chosen[name] for name in ("dictionary", "phrase", "entity_type"))
    rows = [PhraseRow(*row) for row in zip(*columns, strict=True)]
    held = state.read_dictionaries(project)
    count = elements.plural(len(chosen), "phrase")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if st.button("Mute", key="phrases_mute", disabled=is_empty, icon=":material/volume_off:"):
            save(project, project.mute_phrases, rows)
        if st.button(
            "Unmute", key="phrases_unmute", disabled=is_empty, icon=":material/volume_up:"
        ):
            save(project, project.unmute_phrases, rows)
        types = sorted({name for dictionary in held for name in dictionary.types} - {NEVER})
        new_type = st.selectbox(
            "Other type",
            [*types, NEVER, OTHER],
            key="phrases_new_type",
            width=180,
            disabled=is_empty,
        )
        if new_type == OTHER:
            new_type = st.text_input("Name of the type", key="phrases_type_name", width=180)
        if st.button(
            "Give this type", key="phrases_relabel", disabled=is_empty or not new_type.strip()
        ):
            save(project, project.relabel_phrases, rows, new_type)
        st.caption(f"{count} selected" if not is_empty else "No phrase selected")


def save(project: Project, change: Callable[..., int], *arguments: object) -> None:
    """Change the project's dictionaries and say what was changed."""
    before = project.dictionary_version()
    version = change(*arguments)
    if version == before:
        current.say("Nothing changed: it was so already.", "info")
    else:
        reason = project.dictionary_history()[0].reason
        current.say(f"{reason}. The dictionaries are at version {version}.")
    st.rerun()
