"""Predict a large corpus: where its shards are, how far the prediction is, what it found."""

import pandas as pd
import streamlit as st

from engine import jobs
from engine.jobs import Job, ShardsRequest
from engine.projects import Project
from engine.shards import allowed_places
from ui.parts import elements, live, wording
from ui.views.predict import state

FORMATS = {"jsonl": "JSON lines", "parquet": "Parquet"}


def show_places() -> None:
    """Draw where the shards are, where the results go, and which cluster does the work."""
    allowed = allowed_places()
    if not allowed:
        st.info(
            "Whoever runs the app names the folders and URLs that it may use, in GLOSSA_SHARDS. "
            "None is named yet; docs/scale.md says how."
        )
    st.text_input(
        "Shards",
        key="predict_shards",
        placeholder=f"{allowed[0] if allowed else '/corpora'}/notes",
        help="A folder on the server's machine, or a URL: JSON lines, Parquet or text files.",
    )
    st.text_input(
        "Results",
        key="predict_shards_out",
        help="A folder or URL that is empty, or holds results of the same shards.",
    )
    with st.container(horizontal=True):
        st.text_input(
            "Ray cluster",
            key="predict_shards_address",
            placeholder="10.0.0.1:6379",
            help="Address of its head node. Leave it empty to use this machine alone.",
        )
        st.selectbox(
            "Format", list(FORMATS), format_func=FORMATS.__getitem__, key="predict_shards_format"
        )


def start(project: Project, run: str, method: str) -> None:
    """Start the prediction that the fields ask for; InputError if a place is not allowed."""
    typed = {
        name: str(st.session_state.get(f"predict_shards{name}", "")).strip()
        for name in ("", "_out", "_address", "_format")
    }
    state.start_shards(
        project,
        ShardsRequest(
            run, method, typed[""], typed["_out"], typed["_address"], typed["_format"] or "jsonl"
        ),
    )


def show_result(project: Project) -> None:
    """Draw the latest prediction of a large corpus: its progress, its figures, or why it failed."""
    job = state.newest_of_shards(project)
    if job is None:
        return
    st.divider()
    if job.is_active:
        show_progress(project, job.id)
    elif job.state == "done":
        show_figures(project, job)
    else:
        st.warning(elements.plain(job.message or f"This prediction was {job.state}."))
        st.caption("Finished shards are kept; it continues after them.")
        if st.button("Continue", key="predict_shards_again"):
            with elements.explained():
                jobs.resume(project, job.id)
                st.rerun()


def show_progress(project: Project, job_id: str) -> None:
    """Draw how far the prediction is, every two seconds until it has ended."""

    def draw() -> None:
        job = jobs.get_job(project, job_id)
        text = job.message or wording.JOB_STAGES.get(job.stage, "Starting")
        if job.seconds_left is not None:
            text += f", about {elements.duration(job.seconds_left)} to go"
        st.progress(job.share, text=elements.plain(text))
        if st.button("Cancel", key="predict_shards_cancel"):
            jobs.cancel(project, job.id)

    live.redraw("2s", draw, lambda: not jobs.get_job(project, job_id).is_active)


def show_figures(project: Project, job: Job) -> None:
    """Draw what was found, and where the results are."""
    found = jobs.shards_of(project, job.id)
    entities = found.get("entities", {})
    name = wording.method_name(job.request["method"])
    st.subheader(f"{name} found {elements.plural(sum(entities.values()), 'entity')}", anchor=False)
    st.caption(
        elements.plain(
            f"{found.get('done', 0):,} of {found.get('shards', 0):,} shards, "
            f"{found.get('documents', 0):,} documents, {found.get('tokens', 0):,} tokens. "
            f"The results are in {job.request['out']}."
        )
    )
    table = pd.DataFrame(list(entities.items()), columns=["type", "entities"])
    elements.show_table(table, {"type": "Type", "entities": "Entities"}, "predict_shards_table")
    faults = found.get("faults", [])
    if faults:
        st.warning(elements.plain(f"Some shards could not be done. {faults[0]}"))
    elements.notes([*faults[1:], *jobs.job_notes(project, job.id)])
