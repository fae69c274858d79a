"""Home: the next step in the open project, what Glossa does, ways to start, all projects."""

from html import escape

import streamlit as st

from engine import jobs
from engine.projects import (
    SAMPLE_ID,
    Project,
    ProjectSummary,
    claim_project,
    create_project,
    delete_project,
    duplicate_project,
    list_projects,
    open_project,
    reset_sample,
    sample_project,
    share_project,
    unshare_project,
    zipped_project,
)
from engine.text import InputError
from ui.parts import elements, wording
from ui.state import current
from ui.state.visitor import visitor
from ui.views.home import guide, zip_import
from ui.views.home.picture import path_picture

PAGE_SIZE = 20

EXPLANATION = (
    "Bring text and dictionaries of your field: lists of phrases, each with its type.",
    "Glossa marks these phrases in the text, and shows how much they cover and how often they are "
    "correct.",
    "From these incomplete labels it trains a tagger that also finds entities no dictionary "
    "lists. Nothing leaves this machine.",
)


def show() -> None:
    """Draw the page."""
    elements.page_header("From a dictionary to a tagger", "")
    project = opened()
    # Who has a project wants to go on; who has only the sample wants to know what this is.
    if project is not None and project.id != SAMPLE_ID:
        guide.show(project)
    lines = "".join(f"<p>{escape(line)}</p>" for line in EXPLANATION)
    st.html(f'<div class="gl-explanation">{lines}</div>{path_picture()}')
    with st.container(horizontal=True, key="home_cards"):
        show_sample()
        show_new()
        if imported := zip_import.show():
            open_at(imported, "text")
    if project is not None and project.id == SAMPLE_ID:
        guide.show(project)
    show_projects()
    elements.command(
        "glossa projects\n"
        f"glossa status --project {project.id if project else SAMPLE_ID}\n"
        'glossa import --project my-project --create "My project" '
        "--text notes.txt --dictionary Disease.txt"
    )


def opened() -> Project | None:
    """Return the open project; None if there is none, or it cannot be read."""
    try:
        return current.current_project()
    except InputError:
        return None


# ---- ways to start --------------------------------------------------------------------------


def show_sample() -> None:
    """Draw the card that opens the sample project."""
    with st.container(border=True):
        st.subheader("Look around", anchor=False)
        st.caption(
            "Short case reports written for Glossa, with dictionaries of chemicals and diseases, "
            "gold to compare with, and methods that are trained already."
        )
        if st.button("Open the sample project", key="home_sample", type="primary"):
            open_at(sample_project().id, "labels")


def show_new() -> None:
    """Draw the card that creates a project."""
    with st.container(border=True), st.form("home_new", border=False):
        st.subheader("Start your own", anchor=False)
        name = st.text_input(
            "Name of the new project", key="home_new_name", placeholder="Case reports 2026"
        )
        if st.form_submit_button("Create project"):
            with elements.explained():
                open_at(create_project(name, visitor()).id, "text")


def open_at(project_id: str, page_name: str) -> None:
    """Open the project at a page."""
    current.set_current(project_id)
    elements.go_to(page_name)


# ---- projects -------------------------------------------------------------------------------


def show_projects() -> None:
    """Draw the list of projects, newest first."""
    st.subheader("Projects", anchor=False)
    summaries = list_projects(visitor())
    if not summaries:
        elements.empty_state("No projects yet. Open the sample project, or create your own above.")
        return
    pages = -(-len(summaries) // PAGE_SIZE)
    page = st.pagination(pages, key="home_page") if pages > 1 else 1
    for summary in summaries[PAGE_SIZE * (page - 1) :][:PAGE_SIZE]:
        show_project(summary)


def show_project(summary: ProjectSummary) -> None:
    """Draw one project: its name, its state, and its actions."""
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.html(project_html(summary))
        with st.container(horizontal=True, width="content"):  # in a narrow window they wrap as one
            show_actions(summary)


def show_actions(summary: ProjectSummary) -> None:
    """Draw the buttons of a project: open it, and everything else."""
    if not summary.problem and st.button(
        "Open", key=f"home_open_{summary.id}", help=f"Open {elements.plain(summary.name)}"
    ):
        open_at(summary.id, "labels" if summary.sentences and summary.phrases else "text")
    with st.popover("More", key=f"home_more_{summary.id}"):
        if not summary.problem:
            show_rename(summary)
            show_duplicate(summary)
            show_download(summary)
        if visitor() is not None:
            show_sharing(summary)
        if is_manager(summary):
            show_delete(summary)


def project_html(summary: ProjectSummary) -> str:
    """Return the project's name and a line of facts as escaped HTML."""
    if summary.problem:
        line = f"Cannot be opened: {summary.problem}"
    else:
        line = " · ".join(
            (
                elements.plural(summary.sentences, "sentence"),
                elements.plural(summary.dictionaries, "dictionary"),
                f"last job: {job_name(summary.last_job)}",
                elements.size(summary.bytes),
                f"changed {elements.ago(summary.modified)}",
                *([whose(summary)] if visitor() is not None else []),
            )
        )
        if summary.id == SAMPLE_ID and not summary.last_job:  # of an earlier version
            line += " · to see trained methods in it, reset it under “More”"
    return (
        f'<div class="gl-project"><div class="gl-project-name">{escape(summary.name)}</div>'
        f'<div class="gl-project-line">{escape(line)}</div></div>'
    )


def job_name(last_job: str) -> str:
    """Return the kind and state of a job in words.

    >>> job_name("predict done"), job_name("")
    ('prediction, done', 'none')
    """
    kind, _, state = last_job.partition(" ")
    return f"{wording.JOB_NAMES.get(kind, kind).lower()}, {state}" if kind else "none"


def show_rename(summary: ProjectSummary) -> None:
    """Draw the form that renames the project."""
    with st.form(f"home_rename_{summary.id}", border=False):
        name = st.text_input("New name", summary.name, key=f"home_rename_name_{summary.id}")
        if st.form_submit_button("Rename"):
            with elements.explained():
                open_project(summary.id, visitor()).rename(name)
                st.rerun()


def show_duplicate(summary: ProjectSummary) -> None:
    """Draw the form that copies the project."""
    with st.form(f"home_copy_{summary.id}", border=False):
        name = st.text_input(
            "Name of the copy", f"{summary.name} (copy)", key=f"home_copy_name_{summary.id}"
        )
        if st.form_submit_button("Duplicate"):
            with elements.explained():
                duplicate_project(summary.id, name, visitor())
                current.say(f"{summary.name} was copied.")
                st.rerun()


def show_download(summary: ProjectSummary) -> None:
    """Draw the download of the whole project; the zip is made only when the button is pressed."""
    user = visitor()  # known here; the zip is made outside the visitor's session
    st.download_button(
        "Download as zip",
        data=lambda: zipped(summary.id, user),
        file_name=f"{summary.id}.zip",
        mime="application/zip",
        key=f"home_zip_{summary.id}",
        on_click="ignore",
        icon=":material/download:",
    )


def zipped(project_id: str, user: str | None = None) -> bytes:
    """Return the project, if it is still the user's, as the bytes of a zip file."""
    return zipped_project(open_project(project_id, user))


# ---- sharing, where people sign in ----------------------------------------------------------


def is_manager(summary: ProjectSummary) -> bool:
    """Return whether the visitor may share and delete the project."""
    return visitor() is None or summary.owner in ("", visitor())


def whose(summary: ProjectSummary) -> str:
    """Return in a few words who owns the project, and with how many it is shared."""
    if not summary.owner:
        return "everyone's"
    if summary.owner != visitor():
        return f"shared by {summary.owner}"
    return f"yours, shared with {len(summary.guests)}" if summary.guests else "yours"


def show_sharing(summary: ProjectSummary) -> None:
    """Draw whom the project is shared with; the owner can change it."""
    if not summary.owner:
        show_claim(summary)
    elif summary.owner == visitor():
        show_guests(summary)


def show_claim(summary: ProjectSummary) -> None:
    """Draw the button that makes a project without an owner the visitor's own."""
    st.caption("This project has no owner: everyone who signs in can open, change and delete it.")
    user = visitor()
    if (
        summary.id != SAMPLE_ID
        and user
        and st.button("Make it mine", key=f"home_claim_{summary.id}")
    ):
        with elements.explained():
            claim_project(summary.id, user)
            current.say(f"{summary.name} is yours now. Others no longer see it.")
            st.rerun()


def show_guests(summary: ProjectSummary) -> None:
    """Draw the addresses that the project is shared with, and the form that adds one."""
    with st.form(f"home_share_{summary.id}", border=False, clear_on_submit=True):
        address = st.text_input(
            "Share with",
            key=f"home_share_address_{summary.id}",
            placeholder="ann@example.org",
            help="Whoever signs in with this address can open and change the project, but not "
            "delete it.",
        )
        if st.form_submit_button("Share"):
            with elements.explained():
                share_project(summary.id, address, visitor())
                st.rerun()
    for guest in summary.guests:
        if st.button(
            f"Stop sharing with {elements.plain(guest)}", key=f"home_unshare_{summary.id}_{guest}"
        ):
            unshare_project(summary.id, guest, visitor())
            st.rerun()


# ---- deleting -------------------------------------------------------------------------------


def show_delete(summary: ProjectSummary) -> None:
    """Draw the form that deletes the project after its name was typed."""
    with st.form(f"home_delete_{summary.id}", border=False):
        typed = st.text_input(
            "Type the project's name to delete it",
            key=f"home_delete_name_{summary.id}",
            placeholder=summary.name,
            help="Permanently deletes its text, dictionaries, runs and decisions from the disk.",
        )
        if st.form_submit_button("Delete permanently", icon=":material/delete:"):
            with elements.explained():
                delete(summary, typed)
    if summary.id == SAMPLE_ID and st.button(
        "Reset the sample project",
        key="home_reset",
        help="Brings the sample back as it ships, with its trained methods. Deletes everything "
        "that was changed or trained in it.",
    ):
        jobs.end_all(open_project(SAMPLE_ID))
        reset_sample()
        current.say("The sample project was reset.")
        st.rerun()


def delete(summary: ProjectSummary, typed: str) -> None:
    """Delete the project if its name was typed, and end its running jobs."""
    if typed.strip() != summary.name:
        raise InputError(f'type "{summary.name}" to delete this project')
    if not summary.problem:
        jobs.end_all(open_project(summary.id, visitor()))
    delete_project(summary.id, visitor())
    current.forget(summary.id)
    current.say(f"{summary.name} was deleted.", "info")
    st.rerun()
