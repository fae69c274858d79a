"""The tab Dictionary candidates: add phrases that were found and no dictionary holds."""

import pandas as pd
import streamlit as st

from engine.jobs import Job
from engine.projects import Project
from ui.parts import elements, wording
from ui.state import current, findings
from ui.views.review import candidates_state as state

MOST_ROWS = 500


def show(project: Project, job: Job | None) -> None:
    """Draw the table of candidates, and what adding the selected ones would change."""
    if job is None:
        elements.empty_state(
            "This tab shows what a trained method finds and your dictionaries lack.",
            "Train",
            "train",
        )
        return
    methods = findings.methods_of(job)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        method = st.segmented_control(
            "Found by",
            methods,
            default=methods[0],
            required=True,
            format_func=wording.method_name,
            key="review_candidate_method",
        )
        least = st.number_input(
            "Found at least (times)", 1, value=2, key="review_candidate_count", width=170
        )
        only_accepted = st.toggle("Only phrases accepted in review", key="review_only_accepted")
    table = state.candidates(project, job, method)
    table = table[table["count"] >= least]
    if only_accepted:
        table = table[table["accepted"] > 0]
    if table.empty:
        elements.empty_state(
            "No new phrase matches these filters. Lower the number, or choose another method."
        )
        return
    chosen = show_table(table.head(MOST_ROWS).reset_index(drop=True), len(table))
    show_change(project, chosen)


def show_table(table: pd.DataFrame, total: int) -> pd.DataFrame:
    """Draw the candidates; return the selected ones."""
    more = f" Showing the first {len(table):,} of {total:,}." if total > len(table) else ""
    st.caption(
        "Most certain and most frequent first. Select the phrases to add to the dictionaries. "
        f"Phrases rejected in review are left out.{more}"
    )
    shown = table.assign(example=[contexts[0] for contexts in table["contexts"]])
    columns = {
        "phrase": st.column_config.TextColumn("Phrase", width="medium"),
        "entity_type": "Type",
        "count": "Times",
        "documents": "Documents",
        "mean_score": st.column_config.NumberColumn("Mean score", format="%.2f"),
        "accepted": "Accepted",
        "example": st.column_config.TextColumn("Example", width="large"),
    }
    event = elements.show_table(
        shown, columns, "review_candidates", on_select="rerun", selection_mode="multi-row"
    )
    return table.iloc[[row for row in event.selection.rows if row < len(table)]]


def show_change(project: Project, chosen: pd.DataFrame) -> None:
    """Draw what the next version would add, and the button that saves it."""
    if chosen.empty:
        return
    version = project.dictionary_version()
    count, more = len(chosen), int(chosen["count"].sum())
    st.subheader(f"Version {version} → {version + 1}", anchor=False)
    st.caption(
        f"{elements.plural(count, 'new phrase')}, found {more:,} time{'s'[: more != 1]}. "
        "Added to a separate dictionary, “From review”."
    )
    rows = chosen.assign(change="added", examples=[" | ".join(c) for c in chosen["contexts"]])
    columns = {
        "change": st.column_config.TextColumn("Change", width="small"),
        "phrase": st.column_config.TextColumn("Phrase", width="medium"),
        "entity_type": "Type",
        "examples": st.column_config.TextColumn("Found in", width="large"),
    }
    elements.show_table(rows, columns, "review_change")
    if st.button(
        f"Add {elements.plural(count, 'phrase')} to the dictionaries",
        type="primary",
        key="review_add_phrases",
    ):
        pairs = list(zip(chosen["phrase"], chosen["entity_type"], strict=True))
        saved, added = project.add_phrases(pairs)
        current.say(
            f"{elements.plural(added, 'phrase')} from review: the dictionaries are now at version "
            f"{saved}. Distant labels update at once, the trained methods when you train again."
        )
        st.rerun()
