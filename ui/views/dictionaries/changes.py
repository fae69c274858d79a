"""Change which dictionaries are on and how they match, after a preview of the effect."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from engine.dictionaries import Dictionary
from engine.labels import Changes, change_examples
from engine.projects import Project
from engine.settings import MATCH_PRESETS, MatchOptions
from engine.text import Sentence, Span
from ui.charts.palette import type_colors
from ui.parts import elements, wording
from ui.parts.highlight import Line, highlight_lines, marks
from ui.state import corpus, current
from ui.views.dictionaries import state as state

AS_PROJECT, OWN = "as the project", "its own"
EDITABLE = ("is_enabled", "priority", "matching")


# ---- the grid -------------------------------------------------------------------------------


def show_grid(project: Project) -> None:
    """Draw the dictionaries and how they match; changes are previewed before they apply."""
    held = state.read_dictionaries(project)
    table = state.dictionary_rows(project)
    table = table.assign(
        used_share=100 * table["used_share"], matching=[matching_name(d.match) for d in held]
    )
    with st.form("dictionaries_form", border=False):
        edited = st.data_editor(
            table,
            column_config=grid_columns(),
            column_order=list(grid_columns()),
            disabled=[name for name in map(str, table) if name not in EDITABLE],
            hide_index=True,
            key=f"dictionaries_grid_{project.labels_key()}",
        )
        preset = st.radio(
            "Matching of the project",
            list(wording.MATCH_PRESETS),
            index=list(wording.MATCH_PRESETS).index(project.match_preset()),
            format_func=str.capitalize,
            captions=list(wording.MATCH_PRESETS.values()),
            horizontal=True,
            key=f"dictionaries_preset_{project.labels_key()}",
        )
        asked = st.form_submit_button("Preview changes", icon=":material/difference:")
    if asked:
        changed = with_settings(held, edited)
        reason = change_reason(held, changed, project.match_preset(), preset)
        state.set_draft(project, changed, preset, reason)
        if state.draft(project) is None:
            current.say("Nothing changed: these settings already apply.", "info")
        st.rerun()
    show_remove(project, held)
    warn_without_matches(table)
    elements.warnings(state.label_notes(project))


def grid_columns() -> dict[str, Any]:
    """Return the columns of the grid, in order."""
    number = st.column_config.NumberColumn
    return {
        "is_enabled": st.column_config.CheckboxColumn("On", help="Off: it matches nothing."),
        "name": st.column_config.TextColumn("Dictionary", width="medium"),
        "types": "Types",
        "phrases": number("Phrases", format="localized"),
        "duplicates": number(
            "Duplicates",
            format="localized",
            help="Phrases listed more than once under one type, in this or another dictionary, in "
            "any case.",
        ),
        "used_share": number("Used (%)", format="%.1f", help="Phrases with at least one match."),
        "matches": number("Matches", format="localized"),
        "priority": number(
            "Priority",
            min_value=-100,
            max_value=100,
            step=1,
            help="If matches of the same length overlap, the higher priority wins.",
        ),
        "matching": st.column_config.SelectboxColumn(
            "Matching", options=[AS_PROJECT, *wording.MATCH_PRESETS, OWN], required=True
        ),
    }


def matching_name(match: MatchOptions | None) -> str:
    """Return how a dictionary is matched, as the grid names it."""
    if match is None:
        return AS_PROJECT
    return next((name for name, options in MATCH_PRESETS.items() if options == match), OWN)


def with_settings(held: Sequence[Dictionary], table: pd.DataFrame) -> list[Dictionary]:
    """Return the dictionaries with the settings of the grid's rows, which are in order."""
    changed = []
    rows = table[list(EDITABLE)].to_numpy().tolist()
    for dictionary, (is_enabled, priority, matching) in zip(held, rows, strict=True):
        match = dictionary.match if matching == OWN else MATCH_PRESETS.get(matching)
        wanted = 0 if pd.isna(priority) else int(priority)
        changed.append(
            replace(dictionary, is_enabled=bool(is_enabled), priority=wanted, match=match)
        )
    return changed


def change_reason(
    held: Sequence[Dictionary], changed: Sequence[Dictionary], old: str, new: str
) -> str:
    """Return what changed, for the history of versions."""
    changes = [f"Matching {old} → {new}"] if old != new else []
    for before, after in zip(held, changed, strict=True):
        if before.is_enabled != after.is_enabled:
            changes.append(f"{after.name} turned {'on' if after.is_enabled else 'off'}")
        if before.priority != after.priority:
            changes.append(f"{after.name}: priority {after.priority}")
        if before.match != after.match:
            changes.append(f"{after.name}: matching {matching_name(after.match)}")
    return "; ".join(changes)


def show_remove(project: Project, held: Sequence[Dictionary]) -> None:
    """Draw the control that removes dictionaries; an earlier version restores them."""
    with st.popover("Remove dictionaries", icon=":material/delete:"):
        names = [dictionary.name for dictionary in held]
        gone = st.multiselect("Dictionaries to remove", names, key="dictionaries_gone")
        st.caption("You can restore them in the tab Versions.")
        if st.button("Remove", key="dictionaries_remove", type="primary", disabled=not gone):
            project.remove_dictionaries(gone)
            current.say(f"Removed {', '.join(gone)}.", "info")
            st.rerun()


def warn_without_matches(table: pd.DataFrame) -> None:
    """Warn about dictionaries without matches, and say what to try."""
    silent = table[table["is_enabled"] & (table["matches"].fillna(1) == 0)]
    for name, phrases in zip(silent["name"], silent["phrases"], strict=True):
        st.warning(
            elements.plain(
                f"“{name}” matches nothing in this text (0 of {phrases:,} phrases). Try looser "
                "matching, or check that both are in the same language."
            ),
            icon=":material/warning:",
        )


# ---- what changes ---------------------------------------------------------------------------


def show_draft(project: Project) -> None:
    """Draw a preview of the change: matches added and removed, and the button Apply."""
    draft = state.draft(project)
    if draft is None:
        return
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.subheader("What changes", anchor=False, width="content")
            st.badge("Not applied yet", icon=":material/edit:", color="orange")
        st.html(f'<div class="gl-purpose">{escape(draft.reason)}</div>')
        changes = state.changes(project, draft)
        if changes is None:
            st.caption("Add text to see which matches change.")
        else:
            show_counts(changes)
        with st.container(horizontal=True):
            if st.button("Apply", key="dictionaries_apply", type="primary"):
                with elements.explained():
                    apply(project, draft)
            st.button("Discard", key="dictionaries_discard", on_click=state.drop_draft)
        if changes is not None:
            show_examples(project, changes)


def show_counts(changes: Changes) -> None:
    """Draw how many matches are added and removed."""
    with st.container(horizontal=True):
        elements.figure("New matches", f"+{len(changes.added):,}")
        elements.figure("Matches gone", f"−{len(changes.removed):,}")
        elements.figure("Unchanged", elements.count(changes.unchanged))
    if changes.is_empty:
        st.caption("The matches stay the same; nothing changes on other pages.")


def show_examples(project: Project, changes: Changes) -> None:
    """Draw up to ten added and ten removed matches in context, one per phrase."""
    sentences = corpus.sentences(project)
    for title, table in (("New", changes.added), ("Gone", changes.removed)):
        if table.empty:
            continue
        examples = change_examples(table)
        with st.expander(f"{title}: {elements.plural(len(examples), 'example')}", expanded=True):
            st.html(highlight_lines(example_lines(examples, sentences), colors_of(project, table)))


def example_lines(examples: pd.DataFrame, sentences: Sequence[Sentence]) -> list[Line]:
    """Return each example as a sentence with its match marked."""
    lines = []
    columns = ["sentence", "start", "end", "entity_type", "phrase", "matches"]
    for i, start, end, entity_type, phrase, times in examples[columns].to_numpy().tolist():
        sentence = sentences[i]
        note = f"phrase “{phrase}”" + (f", {times:,} times" if times > 1 else "")
        marked = marks(sentence, [Span(start, end, entity_type)])
        lines.append(Line(i + 1, sentence.document_id, sentence.text, marked, [note]))
    return lines


def colors_of(project: Project, table: pd.DataFrame) -> dict[str, str]:
    """Return the types' colors, the same as on other pages."""
    held = {name for d in state.read_dictionaries(project) for name in d.types}
    return type_colors(held | set(table["entity_type"]))


def apply(project: Project, draft: state.Draft) -> None:
    """Apply the change."""
    version = project.save_dictionaries(
        draft.dictionaries, draft.reason, based_on=draft.version, match_preset=draft.preset
    )
    state.drop_draft()
    current.say(f"{draft.reason}. The dictionaries are at version {version}.")
    st.rerun()
