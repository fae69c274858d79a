"""The tabs Coverage and Conflicts: where the labels are, their sources, and where types clash."""

import streamlit as st

from engine.projects import Project
from ui.charts import labels as charts
from ui.charts.palette import type_colors
from ui.charts.style import CONFIG
from ui.parts import elements
from ui.state import corpus
from ui.state import labels as state

SMALL = 200_000  # tokens; up to this size, looking for missing names is fast


def show_coverage(project: Project) -> None:
    """Draw where the labels are, which dictionaries they come from, and what may be missing."""
    tables = state.coverage_tables(project)
    if not corpus.has_gold(project):
        st.caption(
            "Coverage is not recall. To see how much is missed, add gold. To see how often the "
            "labels are right, judge a sample in the tab Precision."
        )
    st.subheader("Along the corpus", anchor=False)
    st.caption("Share of labeled tokens. A gap may be a file about another topic.")
    st.plotly_chart(charts.coverage_figure(tables.along), key="chart_coverage", config=CONFIG)
    st.subheader("By type and dictionary", anchor=False)
    figure = charts.matches_figure(tables.by_dictionary, type_colors(state.labels(project).types))
    st.plotly_chart(figure, key="chart_matches", config=CONFIG)
    st.subheader("Matches per sentence", anchor=False)
    figure = charts.per_sentence_figure(tables.per_sentence)
    st.plotly_chart(figure, key="chart_sentences", config=CONFIG)
    show_missing(project)


def show_missing(project: Project) -> None:
    """Draw frequent names that nothing matches; for a large text, only on request."""
    is_small = state.coverage(project).tokens <= SMALL
    with st.expander(
        "Maybe missing from your dictionaries",
        expanded=is_small,
        key="labels_missing",
        on_change="rerun",
    ) as section:
        if not section.open:
            return
        st.caption("Frequent in the text, not everyday words, and not matched.")
        missing = state.missing(project)
        if missing.empty:
            st.info("No frequent name is without a match.")
            return
        columns = {"phrase": "Phrase", "count": "Times", "documents": "Documents"}
        example = st.column_config.TextColumn("Example", width="large")
        elements.show_table(missing, {**columns, "example": example}, "table_missing")


def show_conflicts(project: Project) -> None:
    """Draw how often each type won over each other, and the pairs of phrases with the rule."""
    conflicts = state.conflicts(project)
    if conflicts.empty:
        st.info("No conflicts: no words are matched by two types.")
        return
    st.caption("If two types match the same words, one wins and the other match is dropped.")
    sides = ["winner_type", "loser_type"]
    counts = conflicts.groupby(sides).size().reset_index(name="times")
    figure = charts.conflicts_figure(counts)
    # A cell is about as wide as high, even with few types.
    width = min(1_000, 230 + 96 * len(figure.layout.yaxis.ticktext))
    st.plotly_chart(figure, key="chart_conflicts", config=CONFIG, width=width)
    columns = {"winner": "Winner", "winner_type": "Its type", "loser": "Loser"}
    columns |= {"loser_type": "Loser's type", "rule": "Why it lost"}
    counted = conflicts.groupby(list(columns), sort=False).size().reset_index(name="times")
    counted = counted.sort_values("times", ascending=False, kind="stable")
    elements.show_table(counted, {**columns, "times": "Times"}, "table_conflicts")
