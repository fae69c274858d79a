"""The tab Noisy phrases: what hurts most in the dictionaries, and how to mend it."""

import pandas as pd
import streamlit as st

from engine.dictionaries import list_phrases
from engine.formats import Aligned
from engine.projects import Project
from ui.parts import elements, health
from ui.state import current
from ui.state import labels as state

MOST_ROWS = 500


def show(project: Project, gold: Aligned | None) -> None:
    """Draw the panel of the dictionary's health, what else is wrong, and the muted phrases."""
    st.subheader("Dictionary health", anchor=False)
    noisy = state.noisy(project, gold)
    known = noisy[noisy["checked"] > 0]
    health.show(project, "labels", rights(known))
    show_others(project, known, gold)
    show_muted(project)


def rights(known: pd.DataFrame) -> dict[tuple[str, str], tuple[int, int]]:
    """Return how many matches of each phrase were checked, and how many of them are right."""
    counts = known.assign(right=(known["precision"] * known["checked"]).round().astype(int))
    by_phrase = counts.groupby(["phrase", "entity_type"])[["checked", "right"]].sum()
    return {pair: (int(checked), int(right)) for pair, checked, right in by_phrase.itertuples()}


def show_others(project: Project, known: pd.DataFrame, gold: Aligned | None) -> None:
    """Draw phrases that are wrong by gold or judgements and that the panel does not list.

    Some can be selected and muted.
    """
    panel = health.health(project)
    listed = {pair for entry in panel.entries for pair in entry.phrases} if panel else set()
    wrong = known[known["estimated_false"] >= 1]
    pairs = zip(wrong["phrase"], wrong["entity_type"], strict=True)
    suspect = wrong.iloc[[row for row, pair in enumerate(pairs) if pair not in listed]]
    if suspect.empty:
        return
    source = "gold" if gold is not None else "matches that you judged in the tab Precision"
    st.subheader("Also wrong", anchor=False)
    st.caption(
        f"Not listed above, but by {source} these phrases have false matches. Select rows to mute "
        "them."
    )
    table = suspect.head(MOST_ROWS).reset_index(drop=True)
    rows = elements.show_table(
        table.assign(precision=100 * table["precision"].astype(float)),
        {
            "phrase": "Phrase",
            "entity_type": "Type",
            "matches": "Matches",
            "estimated_false": _one_decimal("False (estimate)"),
            "precision": _one_decimal("Precision (%)"),
            "checked": "Checked",
            "dictionary": "Dictionary",
        },
        f"table_noisy_{project.labels_key()}",  # new labels start with an empty selection
        on_select="rerun",
        selection_mode="multi-row",
    )["selection"]["rows"]
    if len(suspect) > len(table):
        st.caption(f"The first {len(table):,} of {len(suspect):,}.")
    chosen = pairs_of(table, [row for row in rows if row < len(table)])
    label = f"Mute {elements.plural(len(chosen), 'phrase')}" if chosen else "Mute"
    if st.button(
        label,
        key="noisy_mute",
        icon=":material/volume_off:",
        disabled=not chosen,
        help="A muted phrase matches nothing, in any case and any dictionary.",
    ):
        state.mute(project, chosen)
        names = list_phrases(text for text, _ in chosen)
        current.say(f"Muted {names}. All figures are updated.", "info")
        st.rerun()


def show_muted(project: Project) -> None:
    """Draw the muted phrases, and the control that unmutes them."""
    muted = state.muted(project)
    if not muted:
        return
    st.subheader("Muted", anchor=False)
    names = {f"{text} ({entity_type})": (text, entity_type) for text, entity_type in muted}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.multiselect(
            "Muted phrases",
            list(names),
            key=f"noisy_muted_{project.dictionary_version()}",
            placeholder=f"Choose from {elements.plural(len(names), 'phrase')}",
            width=420,
        )
        if st.button("Unmute", key="noisy_unmute", disabled=not chosen):
            pairs = [names[name] for name in chosen]
            state.unmute(project, pairs)
            unmuted = list_phrases(text for text, _ in pairs)
            current.say(f"Unmuted {unmuted}. All figures are updated.", "info")
            st.rerun()


def pairs_of(table: pd.DataFrame, rows: list[int]) -> list[tuple[str, str]]:
    """Return the phrases in these rows with their types, each once."""
    chosen = table.iloc[rows]
    return list(dict.fromkeys(zip(chosen["phrase"], chosen["entity_type"], strict=True)))


def _one_decimal(heading: str) -> object:
    return st.column_config.NumberColumn(heading, format="%.1f")
