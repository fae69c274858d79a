"""The page Review: decide on uncertain entities with one key each."""

import streamlit as st

from engine.export import default_method
from engine.jobs import Job
from engine.projects import Project
from ui.parts import elements, wording
from ui.state import findings, review_setup
from ui.views.review import candidates as review_candidates
from ui.views.review import card as review_card
from ui.views.review import decide as review_decide
from ui.views.review import measure as review_measure
from ui.views.review import state as state

TABS = ("Decide", "Dictionary candidates", "Decisions", "Measure")
VERDICTS = {
    "accepted": "Accepted",
    "rejected": "Rejected",
    "edited": "Edited",
    "skipped": "Skipped",
    "unsure": "Unsure",
}


def show(project: Project) -> None:
    """Draw the page."""
    elements.page_header(
        "Review",
        "Check what the methods are unsure about. Every decision is saved at once, counts in the "
        "export, and can improve the next training.",
        elements.project_chips(project),
    )
    if not has_something(project):
        return
    st.html(review_card.STYLE)
    job = state.chosen_run(project, review_setup.setup(project))
    show_run_choice(project, job)
    decide, candidates, decisions, measure = st.tabs(TABS, key="review_tab", on_change="rerun")
    with decide:
        if decide.open:  # else its keys would decide while a person judges in Measure
            review_decide.show(project)
    with candidates:
        if candidates.open:
            review_candidates.show(project, job)
    with decisions:
        if decisions.open:
            show_decisions(project)
    with measure:
        if measure.open:
            review_measure.show(project, job)
    st.divider()
    elements.next_step("Export", "export")
    elements.command(command_line(project, job))


def has_something(project: Project) -> bool:
    """Return whether there is something to review; if not, say what is missing."""
    if not project.text_key():
        elements.empty_state(
            "There is no text to review in this project yet.",
            "Add text",
            "text",
        )
    elif not (
        project.dictionary_version() or findings.runs(project) or findings.opinions_by_name(project)
    ):
        elements.empty_state(
            "Nothing has been found in this text yet. Add dictionaries, then train.",
            "Add dictionaries",
            "dictionaries",
        )
    else:
        return True
    return False


def show_run_choice(project: Project, job: Job | None) -> None:
    """Draw the choice of run, if there are several; say if the run is outdated."""
    names = findings.run_names(findings.runs(project))
    if job is not None and len(names) > 1:
        st.selectbox(
            "Run",
            list(names),
            index=list(names).index(job.id),
            format_func=names.__getitem__,
            key=state.widget_key(project, "run"),
            on_change=state.take,
            args=(project, "run"),
            width=300,
        )
    if job is not None and findings.is_outdated(project, job):
        st.caption(
            "Text, dictionaries or matching changed after this run. What the trained methods found "
            "does not reflect that."
        )


def show_decisions(project: Project) -> None:
    """Draw the table of decisions, the latest first."""
    table = state.decision_table(project)
    if table.empty:
        elements.empty_state("No decisions yet. Start in the tab Decide.")
        return
    table["verdict"] = table["verdict"].map(VERDICTS)
    table["source"] = table["source"].map(wording.method_name)
    columns = {
        "decided_at": st.column_config.DatetimeColumn("When", format="D MMM YYYY, HH:mm"),
        "verdict": "Verdict",
        "text": "Phrase",
        "entity_type": "Type",
        "changed": "Changed to",
        "document": "Document",
        "source": "Proposed by",
    }
    elements.show_table(table, columns, "review_decisions")


def command_line(project: Project, job: Job | None) -> str:
    """Return the commands that write the reviewed entities and measure a method."""
    run = f" --run {job.id} --method {default_method(project, job)}" if job is not None else ""
    export = f"glossa export --project {project.id} --reviewed{run} --out reviewed.csv"
    if job is None:
        return export
    return f"{export}\nglossa measure --project {project.id}{run} --items items.csv"
