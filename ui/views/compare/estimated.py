"""The part Estimated of the tab Overview: scores from a judged sample, beside those of gold."""

import streamlit as st

from engine.projects import Project
from engine.scoring import ALL_TYPES
from ui.parts import elements
from ui.state import comparison as state
from ui.state import comparison_tables as tables
from ui.state import measured
from ui.views.compare import score_table
from ui.views.compare.score_table import Cell, Group, number, share

MEASURES = {"precision": "Precision", "recall": "Recall", "f1": "F1"}


def show(project: Project, comparison: state.Comparison) -> None:
    """Draw the estimated scores of the methods that were judged, and the true ones with gold."""
    judged = [
        (choice.name, choice.job, choice.method) for choice in comparison.chosen if choice.job
    ]
    estimates = measured.estimates(project, judged)
    st.subheader("Estimated from your judgements", anchor=False)
    if not estimates:
        st.caption(
            "Judge about 100 items of a random sample to learn precision, recall and F1 without "
            "gold: the tab Measure of the page Review."
        )
        elements.page_link("Measure in Review", "review", icon=":material/fact_check:")
        return
    true = gold_scores(project, comparison)
    rows: dict[str, list[Cell]] = {}
    for name, scores in estimates.items():
        rows[name] = [number(scores.judged)]
        for measure in MEASURES:
            estimate = getattr(scores, measure)
            # Whether one method is better cannot be read off two estimates with wide ranges.
            rows[name].append(
                share(estimate.value, estimate.low, estimate.high)._replace(worth=None)
            )
            if true:
                rows[name].append(share(true.get(name, {}).get(measure))._replace(worth=None))
    headings = ["Method", "Judged"]
    for measure in MEASURES.values():
        headings += [f"{measure}, estimated (%)", *([f"{measure}, gold"] if true else [])]
    st.html(score_table.STYLE)
    st.html(score_table.groups_html(headings, [Group("", rows)], comparison.colors))
    note = (
        "Estimated from the items that you judged in the tab Measure of the page Review, not "
        "measured on all of the text. Ranges are 95 % intervals."
    )
    if true:
        note += " Gold counts only the documents that have it."
    st.caption(note)


def gold_scores(project: Project, comparison: state.Comparison) -> dict[str, dict[str, float]]:
    """Return the scores over all types by method; empty without gold."""
    if comparison.gold is None:
        return {}
    table = tables.scores(project, comparison)
    rows = table[table["entity_type"] == ALL_TYPES].to_dict("records")
    return {str(row["name"]): {name: row[name] for name in MEASURES} for row in rows}
