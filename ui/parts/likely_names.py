"""The search for likely names: a button, and its progress while it runs."""

import streamlit as st

from engine import jobs
from engine.jobs import Job
from engine.projects import Project
from ui.parts import elements, live, wording
from ui.state import likely

FIND = "Find likely missing names"


def show_search(project: Project, key: str, label: str = FIND, *, is_primary: bool = False) -> None:
    """Draw the button that starts the search or, while one runs, its progress."""
    job = likely.active_search(project)
    if job is not None:
        watch(project, job.id, key)
        return
    if failed := likely.failed_search(project):
        st.error(elements.plain(elements.sentence(failed.message)), icon=":material/error:")
    with elements.explained():
        if st.button(
            label,
            key=f"{key}_find",
            icon=":material/manage_search:",
            type="primary" if is_primary else "secondary",
            help="A linear model compares every unlabeled word with the labeled ones. No network "
            "is trained; a text of 100,000 words takes a few minutes.",
        ):
            likely.search(project)
            st.rerun()


def watch(project: Project, id: str, key: str) -> None:
    """Redraw the progress of a search until it ends; then draw the whole page once."""

    def draw() -> None:
        job = jobs.get_job(project, id)
        st.progress(min(1.0, max(0.0, job.share)), text=progress_text(job))
        if st.button(
            "Cancel",
            key=f"{key}_cancel",
            icon=":material/stop_circle:",
            disabled=job.state not in ("queued", "running"),
            help="Stops within seconds. The encoding of the text is kept once it is complete.",
        ):
            jobs.cancel(project, id)
            st.rerun()

    live.redraw("1s", draw, lambda: not jobs.get_job(project, id).is_active)


def progress_text(job: Job) -> str:
    """Return the progress of a search in one line."""
    if job.state == "stopping":
        return "Stopping"
    doing = wording.JOB_STAGES.get(job.stage, job.stage.capitalize())
    return elements.plain(f"{100 * job.share:.0f} % · {doing}")
