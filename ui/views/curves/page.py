"""Coverage curves: how well each method does with growing shares of the dictionaries."""

from collections.abc import Sequence

import streamlit as st

from engine.jobs import Job, command_of
from engine.projects import Project
from ui.parts import elements
from ui.state import findings
from ui.state import labels as labels_state
from ui.views.curves import form as curves_form
from ui.views.curves import result as curves_result
from ui.views.curves import state as state


def show(project: Project) -> None:
    """Draw the page."""
    elements.page_header(
        "Coverage curves",
        "See how large a dictionary each method needs. Methods are trained with growing shares of "
        "your dictionaries, and scored on the same text.",
        elements.project_chips(project),
    )
    if not is_ready(project):
        return
    curve_jobs = state.curves(project)
    with st.expander("New curve", expanded=not curve_jobs, key=f"curves_form_{len(curve_jobs)}"):
        request = curves_form.show(project)
    job = show_choice(curve_jobs)
    if job is None:
        elements.empty_state(
            "No curve yet. It will show F1, precision and recall of each method by share of the "
            "dictionary, and grow point by point during training."
        )
    else:
        curves_result.show(project, job)
    st.divider()
    elements.next_step("Review", "review")
    elements.command(command_of(project.id, request))


def is_ready(project: Project) -> bool:
    """Return whether there are text and dictionaries; if not, say what is missing."""
    if not project.text_key():
        elements.empty_state(
            "No text yet. A curve needs text and dictionaries to train on.",
            "Add text",
            "text",
        )
        return False
    if not any(dictionary.phrases for dictionary in labels_state.dictionaries(project)):
        elements.empty_state(
            "No dictionaries yet. A curve shows how results change as they grow.",
            "Add dictionaries",
            "dictionaries",
        )
        return False
    return True


def show_choice(curve_jobs: Sequence[Job]) -> Job | None:
    """Draw the choice of curves if there are several; return the chosen one."""
    if len(curve_jobs) < 2:
        return curve_jobs[0] if curve_jobs else None
    by_id = {job.id: job for job in curve_jobs}
    names = findings.told_apart({job.id: curves_result.curve_name(job) for job in curve_jobs})
    chosen = st.selectbox(
        "Curve",
        list(by_id),
        format_func=names.__getitem__,
        key=state.chosen_key(curve_jobs),
        width=520,
    )
    return by_id[str(chosen)]
