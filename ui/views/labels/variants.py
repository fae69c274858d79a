"""The tab Variants: what the text decided about matching, and the labels that come of it."""

import pandas as pd
import streamlit as st

from engine.dictionaries import PhraseRow, list_phrases
from engine.labels import Abbreviation
from engine.projects import Project
from ui.parts import elements
from ui.state import current
from ui.state import labels as state

MOST_ROWS = 500


def show(project: Project) -> None:
    """Draw the decision per type, the labels that it adds, and the abbreviations."""
    adaptation = state.labels(project).adaptation
    if adaptation is None:
        st.info(
            "With adaptive matching, the text decides which letter case counts, and abbreviations "
            "that it defines are labeled. Choose it above."
        )
        return
    for case in adaptation.cases:
        st.text(str(case))
    show_added(project)
    show_abbreviations(project, adaptation.abbreviations)


def show_added(project: Project) -> None:
    """Draw the labels that exact letter case would not give."""
    added = state.added(project)
    total = int(added["matches"].sum())
    st.subheader(f"Adaptive matching adds {elements.plural(total, 'label')}", anchor=False)
    if added.empty:
        return
    elements.show_table(
        added.head(MOST_ROWS),
        {
            "text": "Text",
            "entity_type": "Type",
            "phrase": "Phrase",
            "reason": "Reason",
            "matches": "Labels",
            "documents": "Documents",
        },
        "table_added",
    )
    if len(added) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS:,} of {len(added):,}.")


def show_abbreviations(project: Project, abbreviations: tuple[Abbreviation, ...]) -> None:
    """Draw the abbreviations, where some can be selected and muted, or unmuted."""
    st.subheader("Abbreviations", anchor=False)
    if not abbreviations:
        st.caption("The text defines no abbreviation of a phrase.")
        return
    st.caption(
        "A short form is labeled in the document that defines it. Select rows to mute them, or to "
        "label muted ones again. This holds for every document."
    )
    table = pd.DataFrame(abbreviations[:MOST_ROWS])
    table["state"] = table["is_muted"].map({True: "muted", False: ""})
    rows = elements.show_table(
        table,
        {
            "short": "Short form",
            "long": "Long form",
            "entity_type": "Type",
            "matches": "In its document",
            "state": "State",
            "document": "Document",
            "dictionary": "Dictionary",
        },
        f"table_abbreviations_{project.labels_key()}",  # new labels start without a selection
        on_select="rerun",
        selection_mode="multi-row",
    )["selection"]["rows"]
    if len(abbreviations) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS:,} of {len(abbreviations):,}.")
    chosen = [abbreviations[row] for row in rows if row < len(table)]
    used = [a for a in chosen if not a.is_muted]
    muted = [a for a in chosen if a.is_muted]
    with st.container(horizontal=True):
        if st.button("Mute", key="variants_mute", icon=":material/volume_off:", disabled=not used):
            state.mute_short_forms(
                project, [PhraseRow(a.dictionary, a.short, a.entity_type) for a in used]
            )
            _say("Muted", used)
        if st.button("Unmute", key="variants_unmute", disabled=not muted):
            state.unmute(project, [(a.short, a.entity_type) for a in muted])
            _say("Unmuted", muted)


def _say(done: str, abbreviations: list[Abbreviation]) -> None:
    names = list_phrases(a.short for a in abbreviations)
    current.say(f"{done} {names}. All figures are updated.", "info")
    st.rerun()
