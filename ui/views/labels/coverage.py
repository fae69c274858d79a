"""The tabs Coverage and Conflicts: where the labels are, their sources, and where types clash."""

import streamlit as st

from engine.projects import Project
from ui.charts import labels as charts
from ui.charts.palette import type_colors
from ui.charts.style import CONFIG
from ui.parts import elements
from ui.state import corpus
from ui.state import labels as state
from ui.state.figures import kept_figure


def show_coverage(project: Project) -> None:
    """Draw where the labels are, and which dictionaries they come from."""
    tables = state.coverage_tables(project)
    if not corpus.has_gold(project):
        st.caption(
            "Coverage is not recall. To see how much is missed, add gold. To see how often the "
            "labels are right, judge a sample in the tab Precision."
        )
    st.subheader("Along the corpus", anchor=False)
    st.caption("Share of labeled tokens. A gap may be a file about another topic.")
    figure = kept_figure(charts.coverage_figure, tables.along)
    st.plotly_chart(figure, key="chart_coverage", config=CONFIG)
    st.subheader("By type and dictionary", anchor=False)
    colors = type_colors(state.labels(project).types)
    figure = kept_figure(charts.matches_figure, tables.by_dictionary, colors)
    st.plotly_chart(figure, key="chart_matches", config=CONFIG)
    st.subheader("Matches per sentence", anchor=False)
    figure = kept_figure(charts.per_sentence_figure, tables.per_sentence)
    st.plotly_chart(figure, key="chart_sentences", config=CONFIG)


def show_conflicts(project: Project) -> None:
    """Draw how often each type won over each other, and the pairs of phrases with the rule."""
    conflicts = state.conflicts(project)
    if conflicts.empty:
        st.info("No conflicts: no words are matched by two types.")
        return
    st.caption("If two types match the same words, one wins and the other match is dropped.")
    sides = ["winner_type", "loser_type"]
    counts = conflicts.groupby(sides).size().reset_index(name="times")
    figure = kept_figure(charts.conflicts_figure, counts)
    # A cell is about as wide as high, even with few types.
    width = min(1_000, 230 + 96 * len(figure.layout.yaxis.ticktext))
    st.plotly_chart(figure, key="chart_conflicts", config=CONFIG, width=width)
    columns = {"winner": "Winner", "winner_type": "Its type", "loser": "Loser"}
    columns |= {"loser_type": "Loser's type", "rule": "Why it lost"}
    counted = conflicts.groupby(list(columns), sort=False).size().reset_index(name="times")
    counted = counted.sort_values("times", ascending=False, kind="stable")
    elements.show_table(counted, {**columns, "times": "Times"}, "table_conflicts")
