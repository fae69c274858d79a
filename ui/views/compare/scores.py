"""The tab Overview with gold: precision, recall and F1, and recall on unseen entities."""

import pandas as pd
import streamlit as st

from engine.projects import Project
from engine.scoring import ALL_TYPES, MACRO
from ui.charts import compare as charts_compare
from ui.charts.style import CONFIG
from ui.parts.download import with_card
from ui.state import comparison as state
from ui.state import comparison_tables as tables
from ui.views.compare import score_table


def show(project: Project, comparison: state.Comparison) -> None:
    """Draw the scores of one type or all, recall on seen and unseen entities, and all scores."""
    table, scored = tables.scores(project, comparison), tables.scored(project, comparison)
    if not scored.counts[:, -1, 2].any():
        st.info("The gold contains no entities, so there is nothing to score against.")
        return
    entity_type = show_type_choice(comparison)
    rows = table[table["entity_type"] == entity_type]
    figure = tables.drawn(
        comparison,
        ("scores", entity_type),
        lambda: charts_compare.scores_figure(rows, comparison.colors),
    )
    st.plotly_chart(figure, key="chart_scores", config=CONFIG)
    st.caption(
        "An entity is correct only if its words and its type are the same as in gold. Whiskers "
        f"are 95 % intervals from 1,000 random resamples of the {scored.units:,} {scored.unit}s. "
        "Where they overlap a lot, this text is too small to tell the methods apart."
    )
    show_seen(project, comparison)
    show_types(project, table, comparison)


def show_type_choice(comparison: state.Comparison) -> str:
    """Draw the choice of type, if there are several."""
    types = comparison.pool.types
    if len(types) < 2:
        return ALL_TYPES
    return str(
        st.selectbox(
            "Type",
            [ALL_TYPES, *types, MACRO],
            key="compare_type",
            help="The mean over types counts rare types as much as frequent ones.",
            width=260,
        )
    )


def show_seen(project: Project, comparison: state.Comparison) -> None:
    """Draw recall on entities that the dictionaries list, and on those they do not."""
    st.subheader("Beyond the dictionaries", anchor=False)
    if not project.dictionary_version():
        st.info("Without dictionaries, seen and unseen entities cannot be told apart.")
        return
    table = tables.seen(project, comparison)
    figure = tables.drawn(
        comparison,
        ("seen", project.labels_key()),
        lambda: charts_compare.seen_figure(table, comparison.colors),
    )
    st.plotly_chart(figure, key="chart_seen", config=CONFIG)
    st.caption(
        "Recall on gold entities that the dictionaries list with that type (seen), and on those "
        "they do not (unseen). What a method finds among the unseen, it has learned."
    )


def show_types(project: Project, table: pd.DataFrame, comparison: state.Comparison) -> None:
    """Draw the scores of every type with intervals, the best in bold, and a download."""
    st.subheader("All scores", anchor=False)
    ordered = pd.concat(
        [
            table[table["entity_type"] == ALL_TYPES],
            table[~table["entity_type"].isin((ALL_TYPES, MACRO))].sort_values(
                "entity_type", kind="stable"
            ),
            table[table["entity_type"] == MACRO],
        ]
    )
    if len(comparison.pool.types) < 2:
        ordered = ordered[ordered["entity_type"] == ALL_TYPES]
    st.html(score_table.STYLE)
    references = comparison.references
    means = mean_scores(comparison)
    st.html(score_table.scores_html(ordered, means, comparison.colors, references))
    left_out = " A method that learned from the gold is never the best." if references else ""
    st.caption(f"The best value of each group is bold.{left_out} Ranges are 95 % intervals.")
    with st.container(horizontal=True):
        with_card(
            "Download scores (CSV)",
            lambda: ordered.to_csv(index=False).encode(),
            "scores.csv",
            key="download_scores",
            facts=lambda: state.card(project, comparison.chosen, "scores against gold"),
        )


def mean_scores(comparison: state.Comparison) -> dict[tuple[str, str], float]:
    """Return the mean score of each method's entities, by method and type."""
    counts = tables.counts(comparison)
    return {
        (name, entity_type or ALL_TYPES): mean
        for name, entity_type, mean in zip(
            counts["name"], counts["entity_type"], counts["mean_score"], strict=True
        )
    }
