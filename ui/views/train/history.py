"""The runs so far: a table, one run in detail, the differences between two, and deleting one."""

import pandas as pd
import streamlit as st

from engine import jobs
from engine.planning import METHODS
from engine.projects import Project
from ui.parts import elements, wording
from ui.parts.permission import show_permission
from ui.state import current
from ui.views.train import state as state
from ui.views.train.live import show_work

NAMES = {  # of what a run depends on, besides its settings
    "methods": "Methods",
    "preset": "Preset",
    "encoder": "Encoder",
    "seed": "Seed",
    "dictionary_version": "Dictionary version",
    "match_preset": "Matching",
    "text": "Text (fingerprint)",
    "learns_from_decisions": "Learns from decisions",
    "priors": "Priors",
}


def show(project: Project) -> None:
    """Draw the runs, newest first, and one of them in detail."""
    runs = state.runs(project)
    st.subheader("Runs", anchor=False)
    if not runs:
        st.caption("No runs yet. The results, curves and settings of each run will be kept here.")
        return
    show_runs(project, runs)
    labels = {job.id: label_of(job) for job in runs}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(
            "Run",
            list(labels),
            format_func=labels.__getitem__,
            key="history_run",
            width=420,
        )
        others = [id for id in labels if id != chosen]
        other = st.selectbox(
            "Compare settings with",
            others,
            index=None,
            format_func=labels.__getitem__,
            key="history_other",
            placeholder="Choose another run" if others else "No other run yet",
            disabled=not others,
            width=420,
        )
    by_id = {job.id: job for job in runs}
    if chosen not in by_id:  # deleted in another tab
        return
    if other in by_id:
        show_differences(project, by_id[chosen], by_id[other])
    show_card(project, by_id[chosen])


def show_runs(project: Project, runs: list[jobs.Job]) -> None:
    """Draw the table of runs."""
    table = state.history(project, runs)
    now = project.dictionary_version()
    table["methods"] = [
        ", ".join(map(wording.method_name, methods)) for methods in table["methods"]
    ]
    table["dictionaries"] = [
        f"v{version}" if version == now else f"v{version} (now v{now})"
        for version in table["dictionaries"]
    ]
    table["state"] = [wording.JOB_STATES[name].capitalize() for name in table["state"]]
    table["seconds"] = [
        elements.duration(None if s != s else s) for s in table["seconds"].astype(float)
    ]
    columns: dict[str, object] = {
        "started": st.column_config.DatetimeColumn("Started", format="D MMM, HH:mm"),
        "state": "State",
        "preset": "Preset",
        "methods": "Methods",
        "dictionaries": "Dictionaries",
    }
    for method in METHODS:
        column = f"f1_{method}"
        table[column] = table[column].astype(float)
        if table[column].notna().any():
            columns[column] = st.column_config.NumberColumn(
                f"{wording.method_name(method)} F1 (%)", format="%.1f"
            )
    elements.show_table(table, {**columns, "seconds": "Took"}, "table_runs")


def label_of(job: jobs.Job) -> str:
    """Return a run in one line, for a list of choices."""
    methods = ", ".join(map(wording.method_name, job.request["methods"]))
    when, end = elements.ago(job.started_at or job.created_at), wording.JOB_STATES[job.state]
    return f"{when}: {job.request['preset']}, {methods} ({end}) · {job.id[-4:]}"


# ---- two runs -------------------------------------------------------------------------------


def show_differences(project: Project, first: jobs.Job, second: jobs.Job) -> None:
    """Draw what differs between two runs."""
    table = state.differences(project, first, second)
    if table.empty:
        st.info("The two runs have the same settings and scores.")
        return
    table["what"] = [name_of(what) for what in table["what"]]
    columns = {"what": "What differs", "first": f"Run {first.id[-4:]}"}
    elements.show_table(table, {**columns, "second": f"Run {second.id[-4:]}"}, "table_differences")


def name_of(what: str) -> str:
    """Return the name of a setting in plain words.

    >>> name_of("learning_rate"), name_of("F1 of conf_mpu (%)")
    ('Learning rate', 'F1 of Conf-MPU (%)')
    """
    for method, name in wording.METHOD_NAMES.items():
        if what == f"F1 of {method} (%)":
            return f"F1 of {name} (%)"
    return NAMES.get(what, what.replace("_", " ").capitalize())


# ---- one run --------------------------------------------------------------------------------


def show_card(project: Project, job: jobs.Job) -> None:
    """Draw one run: its outcome, curves, scores, priors and settings."""
    with st.container(border=True, gap="small", key="run_card"):
        st.html(f'<div class="gl-box-title">Run {job.id}</div>')
        st.caption(elements.plain(summary(project, job)))
        for note in jobs.job_notes(project, job.id):
            st.caption(elements.plain(elements.sentence(note)))
        if not job.is_active:  # an active run is drawn at the top of the page
            show_work(project, job, f"card_{job.id}")
        show_scores(project, job)
        show_priors(project, job)
        with st.expander("All settings", key="run_settings"):
            described = state.described(job)
            table = pd.DataFrame(
                {"what": [name_of(name) for name in described], "value": described.values()}
            )
            elements.show_table(table, {"what": "Setting", "value": "Value"}, "table_settings")
        show_actions(project, job)


def summary(project: Project, job: jobs.Job) -> str:
    """Return the outcome of a run in one or two sentences."""
    pieces = [wording.JOB_STATES[job.state].capitalize()]
    if (took := state.seconds(job)) is not None:
        pieces.append(f"took {elements.duration(took)}")
    pieces.append(f"dictionaries v{job.dictionary_version}, {job.match_preset} matching")
    line = " · ".join(pieces)
    if job.labels_key != project.labels_key():
        line += ". The text, dictionaries or matching have changed since"
    if job.message and job.state in ("failed", "interrupted", "cancelled"):
        line += f". {job.message}"
    return elements.sentence(line)


def show_scores(project: Project, job: jobs.Job) -> None:
    """Draw the scores of the methods and the dictionaries, if there was gold."""
    scores = jobs.scores_of(project, job.id)
    if not scores:
        return
    rows = [
        {
            "method": wording.method_name(method),
            **{name: _percent(measures["overall"].get(name)) for name in _SHARES},
            **{name: measures["overall"].get(name) for name in ("predicted", "support")},
        }
        for method, measures in scores.items()
    ]
    st.html('<div class="gl-label">Scores against gold</div>')
    share = st.column_config.NumberColumn
    columns: dict[str, object] = {"method": "Method"}
    columns |= {k: share(heading, format="%.1f") for k, heading in _SHARES.items()}
    columns |= {"predicted": "Found", "support": "In gold"}
    elements.show_table(pd.DataFrame(rows), columns, "table_run_scores")


_SHARES = {"precision": "Precision (%)", "recall": "Recall (%)", "f1": "F1 (%)"}


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def show_priors(project: Project, job: jobs.Job) -> None:
    """Draw the priors of the run."""
    priors = jobs.priors_of(project, job.id)
    if priors.empty:
        return
    st.html('<div class="gl-label">Priors</div>')
    share = st.column_config.NumberColumn
    table = priors.assign(
        value=100 * priors["value"].astype(float),
        labeled_share=100 * priors["labeled_share"].astype(float),
    )
    columns = {
        "entity_type": "Type",
        "labeled_share": share("Labeled (%)", format="%.2f"),
        "value": share("Prior (%)", format="%.2f"),
        "source": "Source of the prior",
    }
    elements.show_table(table, columns, "table_run_priors")


def show_actions(project: Project, job: jobs.Job) -> None:
    """Draw the actions for a run that has ended."""
    if job.is_active:
        return
    is_allowed = job.can_resume and show_permission(
        lambda: jobs.names_to_ask(project, job),
        lambda: jobs.allow_names(project, job),
        f"history_trust_{job.id}",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        if is_allowed and st.button(
            "Resume this run", key="history_resume", icon=":material/play_arrow:"
        ):
            jobs.resume(project, job.id)
            current.say("The run continues.", "info")
            st.rerun()
        if job.state == "done":
            elements.page_link("Compare its methods", "compare", icon=":material/compare_arrows:")
        with st.popover("Delete", icon=":material/delete:"):
            st.write("Delete this run with its taggers, its curves and the entities it found?")
            if st.button("Delete permanently", key="history_delete", type="primary"):
                jobs.delete_job(project, job.id)
                current.say("The run was deleted.", "info")
                st.rerun()
