"""A run during and after training: its progress, stages, curves and log."""

import pandas as pd
import streamlit as st

from engine import jobs
from engine.jobs import QUEUED_KINDS, training_job
from engine.planning import METHODS
from engine.projects import Project
from ui.charts import training as charts
from ui.charts.style import CONFIG
from ui.parts import elements, live, wording
from ui.parts.permission import show_permission
from ui.state import current
from ui.state.figures import kept_figure
from ui.views.train import state as state

EVERY = "2s"
LOG_LINES = 200
_MARKS = {"done": "✓", "running": "●", "waiting": "○"}


def show(project: Project) -> None:
    """Draw the active run, or the outcome of the latest one."""
    job = training_job(project)
    if job is None:
        show_latest(project)
    elif job.kind != "train":
        st.info("Coverage curves are in progress. A new run waits until they are done.")
        elements.page_link("See the curves", "curves", icon=":material/arrow_forward:")
    else:
        st.subheader("Run in progress", anchor=False)
        watch(project, job.id)


def watch(project: Project, id: str) -> None:
    """Redraw a run until it ends; then draw the whole page once."""

    def draw() -> None:
        job = jobs.get_job(project, id)
        with st.container(border=True, gap="small", key="train_live"):
            show_progress(job)
            show_cancel(project, job)
            show_waiting(project, job)
            show_work(project, job, f"live_{job.id}")

    live.redraw(EVERY, draw, lambda: not jobs.get_job(project, id).is_active)


# ---- progress -------------------------------------------------------------------------------


def show_progress(job: jobs.Job) -> None:
    """Draw what the run does now, its progress, and the time left."""
    st.progress(min(1.0, max(0.0, job.share)), text=progress_text(job))


def progress_text(job: jobs.Job) -> str:
    """Return the progress of a run in one line."""
    if job.state == "stopping":
        return "Stopping; finished epochs are kept"
    doing = wording.JOB_STAGES.get(job.stage, job.stage.capitalize())
    if job.method and job.stage in ("confidence", "training"):
        doing = f"{wording.method_name(job.method)}: {doing.lower()}"
    pieces = [f"{100 * job.share:.0f} %", doing]
    elapsed = state.seconds(job)
    if elapsed is not None:
        pieces.append(f"{elements.duration(elapsed)} so far")
    if job.seconds_left is not None:
        pieces.append(f"about {elements.duration(max(1.0, job.seconds_left))} left")
    return elements.plain(" · ".join(pieces))


def show_cancel(project: Project, job: jobs.Job) -> None:
    """Draw the button that stops the run, and say that the page may be closed."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(
            "Cancel",
            key="train_cancel",
            icon=":material/stop_circle:",
            disabled=job.state not in ("queued", "running"),
            help="Stops within seconds. Finished epochs are kept, and Resume continues from there.",
        ):
            jobs.cancel(project, job.id)
            st.rerun()
        st.caption(
            "You can close this page. The run continues, and is here when you come back.",
            width="content",
        )
    if job.message:
        st.caption(elements.plain(elements.sentence(job.message)))


def show_waiting(project: Project, job: jobs.Job) -> None:
    """Draw the jobs that are queued behind this one."""
    waiting = [
        other
        for other in jobs.list_jobs(project)
        if other.state == "queued" and other.kind in QUEUED_KINDS and other.id != job.id
    ]
    for other in reversed(waiting):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"Waiting: {describe(other)}", width="content")
            if st.button("Remove from the queue", key=f"train_cancel_{other.id}", type="tertiary"):
                jobs.cancel(project, other.id)
                st.rerun()


def describe(job: jobs.Job) -> str:
    """Return a job in a few words: what, how, when."""
    if job.kind != "train":
        return f"coverage curves, queued {elements.ago(job.created_at)}"
    methods = ", ".join(wording.method_name(m) for m in job.request["methods"])
    return f"{job.request['preset']} run of {methods}, queued {elements.ago(job.created_at)}"


# ---- when nothing trains --------------------------------------------------------------------


def show_latest(project: Project) -> None:
    """Say how the latest run ended; if it was stopped early, offer to resume it."""
    latest = next(iter(state.runs(project)), None)
    if latest is None:
        return
    if latest.state == "done" and state.is_recent(latest):
        st.success(
            f"The latest run is done. It took {elements.duration(state.seconds(latest))}.",
            icon=":material/check_circle:",
        )
        elements.page_link("Compare its methods", "compare", icon=":material/compare_arrows:")
    if not latest.can_resume:
        return
    box = {"cancelled": st.info, "interrupted": st.warning, "failed": st.error}[latest.state]
    why = elements.sentence(latest.message) if latest.message else ""
    verb = "" if latest.state == "failed" else "was "
    box(elements.plain(f"The latest run {verb}{wording.JOB_STATES[latest.state]}. {why}".strip()))
    is_allowed = show_permission(
        lambda: jobs.names_to_ask(project, latest),
        lambda: jobs.allow_names(project, latest),
        "train_trust",
    )
    if st.button(
        "Resume",
        key="train_resume",
        icon=":material/play_arrow:",
        help="Continues after the last finished epoch.",
        disabled=not is_allowed,
    ):
        jobs.resume(project, latest.id)
        current.say("The run continues.", "info")
        st.rerun()


# ---- stages and curves ----------------------------------------------------------------------


def show_work(project: Project, job: jobs.Job, key: str) -> None:
    """Draw the stages of a run and its curves beside them, both during and after training.

    `key` tells the two places on the page apart: a run that ends while the page is drawn is in
    both.
    """
    with st.container(horizontal=True, gap="medium"):
        with st.container(width=270):
            st.html(stages_html(jobs.stages(project, job.id)))
        with st.container(width=650):
            show_curves(project, job, key)


def stages_html(stages: list[jobs.Stage]) -> str:
    """Return the stages as an HTML list, each with a sign for its state."""
    items = []
    for stage in stages:
        share = f" {100 * stage.share:.0f} %" if stage.state == "running" and stage.share else ""
        items.append(
            f'<li class="gl-stage gl-stage-{stage.state}"><span aria-label="{stage.state}">'
            f"{_MARKS[stage.state]}</span> {stage_name(stage)}{share}</li>"
        )
    return f'<ol class="gl-stages">{"".join(items)}</ol>'


def stage_name(stage: jobs.Stage) -> str:
    """Return what a stage does in a few words."""
    method = wording.method_name(stage.method)
    return {
        "prepare": "Labels and priors",
        "confidence": f"{method}: confidence",
        "training": f"{method}: tagger",
        "predict": "Find and score entities",
        "hidden": "Compare on hidden phrases",
    }[stage.name]


def show_curves(project: Project, job: jobs.Job, key: str) -> None:
    """Draw the curves of a run, the confidence of its tokens and its log, one tab each."""
    epochs = jobs.epochs(project, job.id)
    risk_tab, parts_tab, bound_tab, confidence_tab, log_tab = st.tabs(
        ["Risk", "Risk parts", "Bound", "Confidence", "Log"], key=f"run_tabs_{key}"
    )
    training = epochs[epochs["stage"] == "training"]
    with risk_tab:
        show_curve(training, "risk", "Risk", f"run_risk_{key}")
        st.caption("What training minimizes. Methods have different risks: compare only shapes.")
        if state.is_self_trained(job):
            st.caption("In the second half, a student learns what the first tagger predicts.")
    with parts_tab:
        show_parts(training, key)
    with bound_tab:
        show_curve(training, "bounded", "Share of batches (%)", f"run_bound_{key}", percent=True)
        st.caption(
            "How often the negative part would have fallen below zero and was held at zero. If "
            "this is always so, the priors may be too high."
        )
    with confidence_tab:
        show_confidence(project, job, epochs[epochs["stage"] == "confidence"], key)
    with log_tab:
        lines = jobs.log_tail(project, job.id, LOG_LINES)
        st.code("\n".join(lines) or "Nothing yet.", language=None, height=300, wrap_lines=True)


def show_curve(
    epochs: pd.DataFrame,
    column: str,
    title: str,
    key: str,
    *,
    percent: bool = False,
    y_range: tuple[float, float] | None = None,
) -> None:
    """Draw one column of the epochs, or say when it will appear."""
    if epochs.empty:
        st.caption("Appears after the first epoch.")
        return
    figure = kept_figure(
        charts.epochs_figure,
        epochs,
        column,
        wording.METHOD_NAMES,
        title=title,
        percent=percent,
        y_range=y_range,
    )
    st.plotly_chart(figure, key=key, config=CONFIG)


def show_parts(epochs: pd.DataFrame, key: str) -> None:
    """Draw the two parts of the risk on the same scale."""
    y_range = charts.common_range(epochs, ("positive", "negative"))
    show_curve(epochs, "positive", "Positive part", f"run_positive_{key}", y_range=y_range)
    if epochs.empty:
        return
    show_curve(epochs, "negative", "Negative part", f"run_negative_{key}", y_range=y_range)
    st.caption(
        "The risk is the sum of the two: the error on labeled tokens and the error on the others."
    )


def confidence_line(scores: dict[str, float | None]) -> str:
    """Return how accurate the confidence of unlabeled tokens is, in a sentence."""
    precision, recall = (elements.percent(scores[name]) for name in ("precision", "recall"))
    return (
        f"Against gold: of the unlabeled tokens above the threshold, {precision} are part of an "
        f"entity; of all unlabeled tokens that are part of an entity, {recall} are above it."
    )


def show_confidence(project: Project, job: jobs.Job, epochs: pd.DataFrame, key: str) -> None:
    """Draw the confidence that Conf-MPU's first tagger gives, and that tagger's risk."""
    if not any(METHODS[method].needs_confidence for method in job.request["methods"]):
        st.caption("Only Conf-MPU learns a confidence, and it is not part of this run.")
        return
    histogram = jobs.confidence_histogram(project, job.id)
    if histogram is None:
        st.caption("Appears when the confidence tagger is trained.")
    else:
        threshold = state.threshold(job)
        figure = kept_figure(charts.confidence_figure, histogram, threshold)
        st.plotly_chart(figure, key=f"run_confidence_{key}", config=CONFIG)
        st.caption(
            "Labeled tokens should be on the right, most unlabeled ones on the left. Unlabeled "
            "tokens above the threshold do not count as non-entities."
        )
        if scores := jobs.confidence_scores(project, job.id):
            st.caption(confidence_line(scores["unlabeled"]))
    if not epochs.empty:
        show_curve(epochs, "risk", "Risk of the confidence tagger", f"run_confidence_risk_{key}")
