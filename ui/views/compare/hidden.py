"""The part Hidden phrases of the tab Overview: which method finds their words again."""

from collections.abc import Mapping

import streamlit as st

from engine import jobs
from engine.projects import Project
from engine.scoring import HIDDEN_CAUTION, FoundAgain, epochs_advice
from ui.parts.highlight import bullets
from ui.state import comparison as state
from ui.views.compare import score_table
from ui.views.compare.score_table import Cell, Group, number


def show(project: Project, comparison: state.Comparison) -> None:
    """Draw how many hidden words each method found again, if the runs were compared by them."""
    results = found(project, comparison)
    if not results:
        return
    st.subheader("Compared on hidden phrases", anchor=False)
    rows: dict[str, list[Cell]] = {
        name: [number(sum(r.found)), number(sum(r.words)), number(len(r.phrases))]
        for name, r in results.items()
    }
    headings = ["Method", "Words found again", "Hidden words", "Hidden phrases"]
    st.html(score_table.STYLE)
    st.html(score_table.groups_html(headings, [Group("", rows)], comparison.colors))
    st.caption(
        f"{HIDDEN_CAUTION} Each method was trained once more without these phrases, and marks the "
        "same share of the text."
    )
    show_epochs(results)


def show_epochs(results: Mapping[str, FoundAgain]) -> None:
    """Draw how many epochs each method should train for; the setting stays as it is."""
    lines = [f"{name}: {said}" for name, r in results.items() if (said := epochs_advice(r))]
    if lines:
        st.caption(
            "How many epochs to train for. This is a suggestion for the setting Epochs on Train; "
            "nothing is changed."
        )
        st.html(bullets(lines))


def found(project: Project, comparison: state.Comparison) -> dict[str, FoundAgain]:
    """Return what the chosen methods found again of hidden phrases, by their names."""
    by_run = {
        choice.job.id: jobs.hidden_found(project, choice.job.id)
        for choice in comparison.chosen
        if choice.job
    }
    return {
        choice.name: by_run[choice.job.id][choice.method]
        for choice in comparison.chosen
        if choice.job and choice.method in by_run[choice.job.id]
    }
