"""The tab Overview without gold: entity counts by method, and the precision that people judged."""

import streamlit as st

from engine.projects import Project
from ui.charts import compare as charts_compare
from ui.charts.style import CONFIG
from ui.parts import elements
from ui.state import comparison as state
from ui.state import comparison_tables as tables
from ui.state.figures import kept_figure
from ui.views.compare import score_table
from ui.views.compare.score_table import Cell, Group, number, share


def show(project: Project, comparison: state.Comparison) -> None:
    """Draw counts by method and type, and the precision of the judged entities."""
    counts = tables.counts(comparison)
    figure = kept_figure(charts_compare.counts_figure, counts, comparison.colors)
    st.plotly_chart(figure, key="chart_counts", config=CONFIG)
    st.caption("More is not always better: entities may be wrong. Only gold or a person can tell.")
    types = list(comparison.pool.types) if len(comparison.pool.types) > 1 else []
    entities, means = (
        {(row["name"], row["entity_type"]): row[column] for row in counts.to_dict("records")}
        for column in ("entities", "mean_score")
    )
    judged = tables.judged(project, comparison)
    rows: dict[str, list[Cell]] = {}
    for row in judged.to_dict("records"):
        name = str(row["name"])
        rows[name] = [
            number(entities[name, ""]),
            *(number(entities[name, entity_type]) for entity_type in types),
            number(means[name, ""], ".2f"),
            number(row["judged"]),
            # The judged entities were chosen differently for each method, so none is the best.
            share(row["precision"], row["low"], row["high"])._replace(worth=None),
        ]
    headings = ["Method", "Entities", *types, "Mean score", "Judged", "Correct (%)"]
    st.html(score_table.STYLE)
    st.html(score_table.groups_html(headings, [Group("", rows)], comparison.colors))
    st.caption(
        "Judged: entities of the method that a person accepted or rejected on the Distant labels "
        "or Review page. Correct: the share of those that were accepted. They are rarely a random "
        "sample, so this is not an estimate for all entities."
    )
    if not judged["judged"].any():
        elements.page_link("Judge some in Review", "review", icon=":material/fact_check:")
