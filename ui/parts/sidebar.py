"""The sidebar: the open project, links to its pages, the running job, disk space, and sign-out."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st

from engine import jobs
from engine.jobs import Job
from engine.projects import Project, ProjectSummary, list_projects
from engine.text import InputError
from ui.parts import elements, live, sign_in, wording
from ui.state import current, findings
from ui.state.visitor import visitor

PAGE_BY_KIND = {
    "train": "train",
    "curve": "curves",
    "predict": "predict",
    "shards": "predict",
    "probe": "train",
    "suggest": "labels",
    "twin": "predict",
}


def show(groups: Mapping[str, Sequence[Any]]) -> None:
    """Draw the sidebar."""
    with st.sidebar:
        try:
            project = current.current_project()
        except InputError:  # the page shows this error
            project = None
        st.html('<div class="gl-brand">Glossa</div>')
        summaries = list_projects(visitor())
        show_picker(project, summaries)
        show_links(groups)
        if project is not None:
            show_job(project)
        st.caption(f"Disk used: {elements.size(sum(summary.bytes for summary in summaries))}")
        sign_in.show_sign_out()


def show_picker(project: Project | None, summaries: Sequence[ProjectSummary]) -> None:
    """Draw the project picker; choosing another project opens it."""
    names = findings.told_apart(
        {summary.id: summary.name for summary in summaries if not summary.problem}
    )
    ids = list(names)
    chosen = st.selectbox(
        "Project",
        ids,
        index=ids.index(project.id) if project and project.id in names else None,
        format_func=names.__getitem__,
        key=f"project_picker_{project.id if project else ''}",
        placeholder="Choose a project",
    )
    if chosen and (project is None or chosen != project.id):
        current.set_current(chosen)
        st.rerun()


def show_links(groups: Mapping[str, Sequence[Any]]) -> None:
    """Draw the links to the pages, in groups."""
    for group, pages in groups.items():
        with st.container(gap="xxsmall"):
            if group:
                st.html(f'<div class="gl-group">{group}</div>')
            for page in pages:
                st.page_link(page, query_params=current.address(), width="stretch")


def show_job(project: Project) -> None:
    """Draw the active job, if there is one, and update it every two seconds.

    When the job ends, the whole app is drawn once, so that the pages show its results.
    """
    watched = job = jobs.active_job(project)

    def is_over() -> bool:
        nonlocal job
        job = jobs.active_job(project)
        return (job and job.id) != (watched and watched.id)

    def draw() -> None:
        if job is not None:  # as it was a moment ago, for the whole page or for `is_over`
            show_strip(project, job)

    live.redraw("2s" if watched else None, draw, is_over)


def show_strip(project: Project, job: Job) -> None:
    """Draw the job's progress, with Cancel and a link to its page."""

    with st.container(border=True, gap="small"):
        name = wording.JOB_NAMES[job.kind]
        st.html(f'<div class="gl-job"><b>{name}</b><br>{escape(progress(job))}</div>')
        st.progress(min(max(job.share, 0.0), 1.0))
        with st.container(horizontal=True, vertical_alignment="center"):
            elements.page_link("Open", PAGE_BY_KIND[job.kind])
            st.button(
                "Cancel",
                key=f"job_cancel_{job.id}",
                disabled=job.state == "stopping",
                on_click=cancel,
                args=(project, job.id),
                help="Stops within seconds. Finished epochs are kept.",
            )


def cancel(project: Project, job_id: str) -> None:
    """Ask the job to stop."""
    jobs.cancel(project, job_id)


def progress(job: Job) -> str:
    """Return the state of a job in a few words."""
    if job.state == "running":
        left = (
            f", {elements.duration(job.seconds_left)} left" if job.seconds_left is not None else ""
        )
        return f"{100 * job.share:.0f} %{left}"
    return {"queued": "waiting for its turn", "stopping": "stopping"}[job.state]
