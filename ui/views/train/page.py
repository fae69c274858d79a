"""Train: choose methods and settings, see what a run needs, start it and watch it."""

import streamlit as st

from engine import jobs
from engine.jobs import TrainRequest, command_of, probe_of, training_job
from engine.planning import language_warnings
from engine.projects import Project
from ui.parts import elements, health, variants, wording
from ui.state import current
from ui.state import labels as labels_state
from ui.views.train import form as train_form
from ui.views.train import history as train_history
from ui.views.train import live as train_live
from ui.views.train import state as state

STYLE = """<style>
.gl-box-title { font-weight: 600; overflow-wrap: anywhere; }
.gl-label { font-size: .875rem; }
.gl-choice { font-size: .875rem; opacity: .75; line-height: 1.45; padding: 0 0 .35rem 1.55rem; }
.gl-fact { font-size: .92rem; line-height: 1.5; padding: .1rem 0; }
.gl-fact .gl-legend { padding: .25rem 0; }
.gl-stages { list-style: none; margin: 0; padding: 0; font-size: .92rem; line-height: 2; }
.gl-stages .gl-stage { margin: 0 0 0 -1.6rem; padding: 0; font-size: inherit; }
.gl-stage-waiting { opacity: .6; }
.gl-stage-running { font-weight: 600; }
</style>"""


def show(project: Project) -> None:
    """Draw the page."""
    st.html(STYLE)
    elements.page_header(
        "Train",
        "Train taggers on the distant labels, to find entities that the dictionaries miss. All "
        "methods learn from the same labels, so you can compare them.",
        elements.project_chips(project),
    )
    if not is_ready(project):
        return
    train_live.show(project)
    st.subheader("New run", anchor=False)
    show_labels(project)
    # Side by side if there is room, otherwise one above the other.
    with st.container(horizontal=True, gap="medium"):
        with st.container(width=556, key="train_form"):
            request, problem = train_form.show(project)
        with st.container(width=416, key="train_preflight"):
            show_preflight(project, request, problem)
    train_history.show(project)
    st.divider()
    elements.next_step("Compare", "compare")
    elements.command(command_of(project.id, request))


def is_ready(project: Project) -> bool:
    """Return whether there are labels to learn from; if not, say what is missing."""
    if not project.text_key():
        elements.empty_state("No text yet. Add documents to train on.", "Add text", "text")
        return False
    if not any(dictionary.phrases for dictionary in labels_state.dictionaries(project)):
        elements.empty_state(
            "No dictionaries yet. They provide the labels that a run learns from.",
            "Add dictionaries",
            "dictionaries",
        )
        return False
    if not labels_state.coverage(project).matches:
        elements.empty_state(
            "The dictionaries match nothing in this text, so there is nothing to learn from.",
            "See the distant labels",
            "labels",
        )
        return False
    return True


def show_labels(project: Project) -> None:
    """Draw a line about letter case and abbreviations, and all about them when it is opened."""
    with st.container(gap="xsmall", key="train_labels"):
        st.html('<div class="gl-label">Labels</div>')
        st.caption(elements.plain(variants.summary(project)))
        with st.expander(
            "Letter case and abbreviations", key="train_variants", on_change="rerun"
        ) as section:
            if section.open:
                variants.show(project)


# ---- before the start -----------------------------------------------------------------------


def show_preflight(project: Project, request: TrainRequest, problem: str) -> None:
    """Draw what a run trains on, how long it takes, warnings, and the start button."""
    plan = state.plan(project)
    with st.container(border=True, gap="small"):
        st.html('<div class="gl-box-title">Before you start</div>')
        st.html(train_form.figures_html(plan, request))
        show_time(project, request)
        health.show_line(project, "train")
        encoder = request.settings.get("encoder_name", "minilm")
        for warning in (*plan.warnings, *language_warnings(project.language(), str(encoder))):
            st.warning(elements.plain(f"{warning}."), icon=":material/warning:")
        reason = problem or plan.problem
        if reason:
            st.error(elements.plain(elements.sentence(reason)), icon=":material/error:")
        show_start(project, request, is_possible=not reason)


def show_time(project: Project, request: TrainRequest) -> None:
    """Draw the time a run takes, measured on this machine or guessed, and the measure button."""
    seconds = jobs.estimate(project, request) if request.methods else None
    rough = jobs.rough_estimate(project, request) if request.methods else None
    probe = next((job for job in jobs.list_jobs(project, "probe") if job.is_active), None)
    if seconds is not None:
        line = f"<b>About {elements.duration(max(1.0, seconds))}</b> on this machine, as measured"
    elif rough is not None:
        line = f"<b>Roughly {elements.duration(max(1.0, rough))}</b>: not measured here yet"
    else:
        line = "<b>Time not known</b> before a method is chosen"
    st.html(f'<div class="gl-fact">{line}</div>')
    label = "Measure the time" if seconds is None else "Measure again"
    if st.button(
        "Measuring …" if probe else label,
        key="train_measure",
        icon=":material/timer:",
        type="tertiary",
        disabled=probe is not None or not request.methods,
        help=wording.MEASURE_HELP,
    ):
        jobs.start(project, probe_of(request))
        st.rerun()


def show_start(project: Project, request: TrainRequest, *, is_possible: bool) -> None:
    """Draw the button that starts the run, or queues it behind the active one."""
    active = training_job(project)
    if active is not None:
        when = elements.ago(active.started_at or active.created_at)
        st.caption(f"A run is in progress (started {when}). A new run waits until it is done.")
    is_chosen = bool(request.methods)
    if not is_chosen:
        st.caption("Choose at least one method.")
    if st.button(
        "Queue this run" if active else "Start",
        key="train_start",
        type="primary",
        icon=":material/playlist_add:" if active else ":material/play_arrow:",
        disabled=not (is_possible and is_chosen),
        width="stretch",
    ):
        jobs.start(project, request)
        current.say("The run is queued." if active else "The run has started.", "info")
        st.rerun()
