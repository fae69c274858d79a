"""The sidebar: the open project, links to its pages, the job at work, the disk used."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from engine import InputError
from engine.project import Project
from engine.workspace import list_projects
from ui import parts
from ui.state import current

try:
    from engine import jobs
except ImportError:
    jobs = None


def show(groups: Mapping[str, Sequence[Any]]) -> None:
    """Draw the sidebar."""
    with st.sidebar:
        try:
            project = current.current_project()
        except InputError:  # said on the page
            project = None
        st.html('<div class="gl-brand">Glossa</div>')
        show_picker(project)
        show_links(groups)
        if project is not None:
            show_job(project)
        st.caption(f"Disk used: {parts.size(sum(p.bytes for p in list_projects()))}")


def show_picker(project: Project | None) -> None:
    """Draw the choice of projects; another choice opens that one."""
    names = {summary.id: summary.name for summary in list_projects()}
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
    """Draw the pages, grouped."""
    for group, pages in groups.items():
        with st.container(gap=None):
            if group:
                st.html(f'<div class="gl-group">{group}</div>')
            for page in pages:
                st.page_link(page, query_params=current.address(), width="stretch")


def show_job(project: Project) -> None:
    """Draw the job at work, if there is one, and look again every two seconds while there is."""
    if jobs is None:
        return
    active = jobs.active_job(project)

    @st.fragment(run_every="2s" if active else None)
    def strip() -> None:
        job = jobs.active_job(project)
        if current.has_just_ended(project.id, job.id if job else None):
            st.rerun()  # the whole app, once: pages show what the job made
        if job is None:
            return
        with st.container(border=True, gap="small"):
            st.html('<div class="gl-job">Job</div>')

    strip()
