"""The tab Overview with gold: precision, recall and F1 with intervals, and recall on new words."""

import pandas as pd
import streamlit as st

from engine.bootstrap import ALL_TYPES, MACRO
from engine.project import Project
from ui import charts_compare, score_table
from ui.chart_style import CONFIG
from ui.state import comparison as state
from ui.state import comparison_tables as tables


def show(project: Project, found: state.Comparison) -> None:
    """Draw the scores of one type or of all, then recall seen and unseen, then every type."""
    table, scored = tables.scores(project, found), tables.scored(project, found)
    if not scored.counts[:, -1, 2].any():
        st.info("The gold holds no entity, so there is nothing to score against.")
        return
    entity_type = show_type_choice(found)
    rows = table[table["entity_type"] == entity_type]
    figure = tables.drawn(
        found, ("scores", entity_type), lambda: charts_compare.scores_figure(rows, found.colors)
    )
    st.plotly_chart(figure, key="chart_scores", config=CONFIG)
    st.caption(
        "An entity is right only with the same words and the same type as in the gold. Whiskers "
        f"are 95 % intervals, from drawing the {scored.units:,} {scored.unit}s anew 1,000 times: "
        "where they overlap much, this text is too small to tell the methods apart."
    )
    show_seen(project, found)
    show_types(table, found)


def show_type_choice(found: state.Comparison) -> str:
    """Draw which type is looked at, where there are several."""
    types = found.pool.types
    if len(types) < 2:
        return ALL_TYPES
    return str(
        st.selectbox(
            "Type",
            [ALL_TYPES, *types, MACRO],
            key="compare_type",
            help="The mean of types counts rare types as much as frequent ones.",
            width=260,
        )
    )


def show_seen(project: Project, found: state.Comparison) -> None:
    """Draw recall on entities that the dictionaries hold, and on those they do not."""
    st.subheader("Beyond the dictionaries", anchor=False)
    if not project.dictionary_version():
        st.info("There are no dictionaries to tell seen entities from unseen ones.")
        return
    table = tables.seen(project, found)
    figure = tables.drawn(
        found,
        ("seen", project.labels_key()),
        lambda: charts_compare.seen_figure(table, found.colors),
    )
    st.plotly_chart(figure, key="chart_seen", config=CONFIG)
    st.caption(
        "Recall on gold entities whose words the dictionaries hold under that type (seen), and on "
        "those they do not (unseen). What a method finds among the unseen, it has learned."
    )


def show_types(table: pd.DataFrame, found: state.Comparison) -> None:
    """Draw the scores of every type, with intervals, the best in bold, and let them be kept."""
    st.subheader("All figures", anchor=False)
    ordered = pd.concat(
        [
            table[table["entity_type"] == ALL_TYPES],
            table[~table["entity_type"].isin((ALL_TYPES, MACRO))].sort_values(
                "entity_type", kind="stable"
            ),
            table[table["entity_type"] == MACRO],
        ]
    )
    if len(found.pool.types) < 2:
        ordered = ordered[ordered["entity_type"] == ALL_TYPES]
    st.html(score_table.STYLE)
    st.html(score_table.scores_html(ordered, mean_scores(found), found.colors))
    st.caption("The best of each group is in bold. Small figures are 95 % intervals.")
    st.download_button(
        "Download scores (CSV)",
        data=lambda: ordered.to_csv(index=False).encode(),
        file_name="scores.csv",
        mime="text/csv",
        key="download_scores",
        on_click="ignore",
        icon=":material/download:",
    )


def mean_scores(found: state.Comparison) -> dict[tuple[str, str], float]:
    """Return the mean score of each method's entities, by method and type."""
    counts = tables.counts(found)
    return {
        (name, entity_type or ALL_TYPES): mean
        for name, entity_type, mean in zip(
            counts["name"], counts["entity_type"], counts["mean_score"], strict=True
        )
    }
