"""The form for a new curve: shares, methods, seeds, preset, the time it takes, and the start."""

import streamlit as st

from engine import jobs
from engine.jobs import CurveRequest, training_job
from engine.planning import METHODS
from engine.projects import Project
from engine.settings import DEFAULT_TRAINING_PRESET, TRAINING_PRESETS
from engine.text import InputError
from ui.parts import elements, wording
from ui.views.curves import state as state

DEFAULT_SHARES = (20, 40, 60, 80, 100)
# All methods but the supervised one, which does not learn from dictionaries.
METHODS_WITH_CURVE = [method.name for method in METHODS.values() if not method.needs_gold]


def show(project: Project) -> CurveRequest:
    """Draw the form; return the request that it describes."""
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        shares = st.pills(
            "Shares of the dictionary",
            state.SHARES,
            selection_mode="multi",
            default=DEFAULT_SHARES,
            format_func=lambda share: f"{share} %",
            key="curves_shares",
            wrap=True,
            persist_state="session",
            help="Shares are nested: 40 % includes the phrases of 20 %. Phrases are taken in the "
            "order of the dictionary.",
        )
        chosen = st.pills(
            "Methods",
            METHODS_WITH_CURVE,
            selection_mode="multi",
            default=[name for name in METHODS_WITH_CURVE if METHODS[name].is_offered_first],
            format_func=lambda method: wording.method_name(str(method)),
            key="curves_methods",
            wrap=True,
            persist_state="session",
            help="Dictionary matching is always in the chart; it needs no training.",
        )
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        preset = st.segmented_control(
            "Preset",
            list(TRAINING_PRESETS),
            default="quick" if "quick" in TRAINING_PRESETS else DEFAULT_TRAINING_PRESET,
            required=True,
            format_func=lambda name: str(name).capitalize(),
            key="curves_preset",
            persist_state="session",
        )
        seeds = st.number_input(
            "Seeds",
            1,
            state.MOST_SEEDS,
            value=1,
            key="curves_seeds",
            persist_state="session",
            help="Every point is trained once per seed; the band shows how much the seeds differ.",
            width=130,
        )
        encoder = st.selectbox(
            "Encoder",
            list(wording.ENCODERS),
            format_func=wording.ENCODERS.__getitem__,
            key="curves_encoder",
            persist_state="session",
            help=wording.ENCODER_HELP,
            width=290,
        )
        epochs = st.number_input(
            "Epochs",
            1,
            1_000,
            value=None,
            placeholder="As preset",
            key="curves_epochs",
            persist_state="session",
            width=150,
        )
    st.caption(wording.TRAINING_PRESETS[str(preset)])
    request = CurveRequest(
        fractions=tuple(sorted(shares)),
        methods=tuple(method for method in METHODS_WITH_CURVE if method in chosen),
        seeds=tuple(range(int(seeds))),
        preset=str(preset),
        settings={"epochs": int(epochs)} if epochs else {},
        encoder=str(encoder),
    )
    show_start(project, request)
    return request


def show_start(project: Project, request: CurveRequest) -> None:
    """Draw how much there is to train, how long it takes, and the start button."""
    cells = len(request.fractions) * len(request.methods) * len(request.seeds)
    if not cells:
        st.info("Choose at least one share and one method.", icon=":material/info:")
        return
    seconds = jobs.estimate(project, request)
    size = (
        f"{elements.plural(len(request.fractions), 'share')} × "
        f"{elements.plural(len(request.methods), 'method')} × "
        f"{elements.plural(len(request.seeds), 'seed')} = "
        f"{elements.plural(cells, 'point')} to train"
    )
    rough = jobs.rough_estimate(project, request) if seconds is None else None
    if seconds is not None:
        time = f"about {elements.duration(seconds)} on this machine"
    elif rough is not None:
        time = f"roughly {elements.duration(rough)}: not measured here yet"
    else:
        time = "time not known yet"
    st.markdown(f"**{elements.plain(size)}**, {elements.plain(time)}.")
    before = training_job(project)
    if before is not None:
        st.caption("Another training is in progress. This curve waits until it is done.")
    with st.container(horizontal=True):
        if st.button(
            "Start" if before is None else "Queue this curve",
            type="primary",
            key="curves_start",
            icon=":material/play_arrow:",
        ):
            start(project, request)
        if seconds is None:
            is_measuring = state.is_measuring(project)
            if st.button(
                "Measuring …" if is_measuring else "Measure the time",
                key="curves_measure",
                icon=":material/timer:",
                disabled=is_measuring,
                help=wording.MEASURE_HELP,
            ):
                state.measure(project, request)
                st.rerun()


def start(project: Project, request: CurveRequest) -> None:
    """Start the curve and redraw the page, or show why it cannot start."""
    try:
        state.start(project, request)
    except InputError as error:
        elements.show_input_error(error)
        return
    st.rerun()
