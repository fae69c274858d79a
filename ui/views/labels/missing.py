"""The tab Missing names: likely names that the dictionaries lack, to be added or reviewed."""

import pandas as pd
import streamlit as st

from engine.dictionaries import list_phrases
from engine.projects import Project
from ui.parts import elements, likely_names
from ui.state import current, likely, review_setup
from ui.state import labels as state

MOST_ROWS = 500
SMALL = 200_000  # tokens; up to this size, looking for frequent names is fast


def show(project: Project) -> None:
    """Draw the likely names or, before the first search, the frequent ones."""
    result = likely.kept(project)
    if result is None:
        st.caption(
            "Compare every unlabeled word with the labeled ones to find names that your "
            "dictionaries lack, with their types, before you train anything."
        )
        likely_names.show_search(project, "missing", is_primary=True)
        show_frequent(project)
        return
    if not likely.is_fresh(project, result):
        st.caption(
            "Dictionaries, matching or decisions changed since this search. Names that you added "
            "or rejected are left out; a new search also learns from them."
        )
        likely_names.show_search(project, "missing", "Search again")
    show_likely(project)


def show_likely(project: Project) -> None:
    """Draw the table of likely names, where some can be selected, added or sent to review."""
    table = likely.table(project)
    if table.empty:
        st.info("No likely name is missing from your dictionaries.")
        return
    shown = table.head(MOST_ROWS)
    more = f" Showing the first {len(shown):,} of {len(table):,}." if len(table) > MOST_ROWS else ""
    st.caption(f"Most like matches first. Select rows to add them or to review them.{more}")
    number = st.column_config.NumberColumn
    rows = elements.show_table(
        shown.assign(
            margin=shown["margin"].astype(float),
            example=[examples[0] for examples in shown["examples"]],
        ),
        {
            "phrase": st.column_config.TextColumn("Name", width=150),
            "entity_type": "Type",
            "margin": number(
                "Margin",
                format="%.2f",
                help="How far the type is ahead of the next one, 0 to 1. Low: the type may be "
                "wrong.",
            ),
            "confidence": number(
                "Confidence",
                format="%.2f",
                help="How likely its words are part of an entity; mean of all places.",
            ),
            "places": "Places",
            "example": st.column_config.TextColumn("Example", width="large"),
        },
        f"table_likely_{project.labels_key()}",  # new labels start with an empty selection
        on_select="rerun",
        selection_mode="multi-row",
    )["selection"]["rows"]
    show_actions(project, shown.iloc[[row for row in rows if row < len(shown)]])


def show_actions(project: Project, chosen: pd.DataFrame) -> None:
    """Draw more examples of the selected names, and what can be done with them."""
    pairs = list(zip(chosen["phrase"], chosen["entity_type"], strict=True))
    for phrase, examples in zip(chosen["phrase"][:3], chosen["examples"][:3], strict=True):
        lines = [f"**{elements.plain(phrase)}**", *map(elements.plain, examples)]
        st.caption("  \n".join(lines))
    names = elements.plural(len(pairs), "name")
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(
            f"Add {names} to the dictionaries" if pairs else "Add to the dictionaries",
            key="missing_add",
            type="primary" if pairs else "secondary",
            icon=":material/add:",
            disabled=not pairs,
            help="Adds them as a new version, to a separate dictionary, “From suggestions”.",
        ):
            version, added = project.add_phrases(pairs, "suggestions")
            current.say(
                f"{elements.plural(added, 'phrase')} added: the dictionaries are now at version "
                f"{version}. All figures are updated."
            )
            st.rerun()
        if st.button(
            f"Send {names} to review" if pairs else "Send to review",
            key="missing_send",
            icon=":material/rate_review:",
            disabled=not pairs,
            help="Lets you decide on every place of these names, in the queue Unseen phrases.",
        ):
            likely.send(project, pairs)
            review_setup.remember(project, order="unseen")
            listed = list_phrases(phrase for phrase, _ in pairs)
            current.say(f"Sent to review: {listed}.", "info")
            st.rerun()
        if likely.sent(project):
            elements.page_link("Review", "review", icon=":material/arrow_forward:")


def show_frequent(project: Project) -> None:
    """Draw frequent names that nothing matches; for a large text, only on request."""
    is_small = state.coverage(project).tokens <= SMALL
    with st.expander(
        "Frequent words that nothing matches",
        expanded=is_small,
        key="labels_missing",
        on_change="rerun",
    ) as section:
        if not section.open:
            return
        st.caption(
            "Frequent in the text, not everyday words, and not matched. Those that look most like "
            "your phrases come first."
        )
        missing = state.missing(project)
        if missing.empty:
            st.info("No frequent name is without a match.")
            return
        columns = {"phrase": "Phrase", "entity_type": "Looks like", "count": "Times"}
        columns["documents"] = "Documents"
        example = st.column_config.TextColumn("Example", width="large")
        elements.show_table(missing, {**columns, "example": example}, "table_missing")
