"""The tabs Coverage and Conflicts: where the labels are, whose they are, and where types meet."""

import streamlit as st

from engine.project import Project
from ui import charts, parts
from ui.chart_style import CONFIG
from ui.palette import type_colors
from ui.state import labels as state

SMALL = 200_000  # tokens, up to which looking for missing names takes no time to speak of


def show_coverage(project: Project) -> None:
    """Draw where the labels are, which dictionary they come from, and what may be missing."""
    tables = state.coverage_tables(project)
    st.caption(
        "Coverage is not recall. To know how much is missed, add gold; to know how often the "
        "labels are right, check a sample in the tab Precision."
    )
    st.subheader("Along the corpus", anchor=False)
    st.caption("Share of tokens that are labeled; a gap may be a file about something else.")
    st.plotly_chart(charts.coverage_figure(tables.along), key="chart_coverage", config=CONFIG)
    st.subheader("By type and dictionary", anchor=False)
    figure = charts.matches_figure(tables.by_dictionary, type_colors(state.labels(project).types))
    st.plotly_chart(figure, key="chart_matches", config=CONFIG)
    st.subheader("Matches in a sentence", anchor=False)
    figure = charts.per_sentence_figure(tables.per_sentence)
    st.plotly_chart(figure, key="chart_sentences", config=CONFIG)
    show_missing(project)


def show_missing(project: Project) -> None:
    """Draw frequent names that nothing matched; in a large text, once they are asked for."""
    is_small = state.coverage(project).tokens <= SMALL
    with st.expander(
        "Maybe missing from your dictionaries",
        expanded=is_small,
        key="labels_missing",
        on_change="rerun",
    ) as section:
        if not section.open:
            return
        st.caption("Frequent in the text, unlike everyday words, and matched by nothing.")
        missing = state.missing(project)
        if missing.empty:
            st.info("Nothing stands out: no name is frequent and unmatched.")
            return
        columns = {"phrase": "Phrase", "count": "Times", "documents": "Documents"}
        example = st.column_config.TextColumn("Example", width="large")
        parts.show_table(missing, {**columns, "example": example}, "table_missing")


def show_conflicts(project: Project) -> None:
    """Draw which type won against which, and each pair of phrases with the rule used."""
    conflicts = state.conflicts(project)
    if conflicts.empty:
        st.info("No conflicts: nowhere do two types claim the same words.")
        return
    st.caption("Where two types claim the same words, one wins and the other match is dropped.")
    sides = ["winner_type", "loser_type"]
    counts = conflicts.groupby(sides).size().reset_index(name="times")
    figure = charts.conflicts_figure(counts)
    # A cell is about as wide as it is high, however few types there are.
    width = min(1_000, 230 + 96 * len(figure.layout.yaxis.ticktext))
    st.plotly_chart(figure, key="chart_conflicts", config=CONFIG, width=width)
    columns = {"winner": "Winner", "winner_type": "Its type", "loser": "Loser"}
    columns |= {"loser_type": "Loser's type", "rule": "Rule"}
    counted = conflicts.groupby(list(columns), sort=False).size().reset_index(name="times")
    counted = counted.sort_values("times", ascending=False, kind="stable")
    parts.show_table(counted, {**columns, "times": "Times"}, "table_conflicts")
