"""The form of the Train page: turn the user's choices into a request for a run."""

from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from engine.jobs import TrainRequest, settings_of
from engine.planning import METHODS, Method
from engine.projects import Project
from engine.scoring import HIDDEN_SHARE
from engine.settings import DEFAULT_TRAINING_PRESET, TRAINING_PRESETS, Settings, training_settings
from engine.text import InputError
from ui.charts.palette import type_colors
from ui.parts import elements, wording
from ui.state import corpus
from ui.views.train import encoder as train_encoder
from ui.views.train import likely as train_likely
from ui.views.train import state as state

_CONTEXT_LAYER = TRAINING_PRESETS[DEFAULT_TRAINING_PRESET].contextual_layer
CONFIDENCE_MODELS = {"linear": "A linear model", "network": "A network, as in the paper"}
LOSSES = {
    "mae": "Absolute error",
    "cross_entropy": "Cross entropy",
    "gce": "Generalized cross entropy",
}


def show(project: Project) -> tuple[TrainRequest, str]:
    """Draw the form; return the request, and why it cannot be done ("" if it can)."""
    methods = show_methods(has_gold=corpus.has_gold(project))
    preset = show_preset()
    encoder = st.segmented_control(
        "Encoder",
        list(wording.ENCODERS),
        default="bilstm",
        required=True,
        format_func=wording.ENCODERS.__getitem__,
        key="train_encoder",
        help=wording.ENCODER_HELP,
        persist_state="session",
    )
    base = training_settings(preset, str(encoder))
    transformer, unusable = "minilm", ""
    if base.encoder == "transformer" or base.contextual_layer:
        transformer, unusable = train_encoder.show(project.language())
    use_decisions = show_decisions(project)
    hide = show_hidden()
    likely_place = st.container()  # filled below: it depends on the settings
    with st.expander("Advanced", key="train_advanced"):
        priors, problem = show_priors(project)
        has_confidence = any(METHODS[method].needs_confidence for method in methods)
        changes, seed = show_settings(base, f"{preset}_{encoder}", has_confidence=has_confidence)
        st.caption(elements.plain(state.device_line(project, base)))
    model = changes.get("confidence_model", base.confidence_model)
    if has_confidence and model == "linear":
        with likely_place:
            share = train_likely.show(project, base, f"{preset}_{encoder}", priors)
        if share is not None and share != base.confidence_share:
            changes["confidence_share"] = share
    if transformer != base.encoder_name and changes.get("contextual_layer") != 0:
        changes["encoder_name"] = transformer
    request = TrainRequest(
        methods,
        preset,
        str(encoder),
        changes,
        seed,
        priors,
        use_decisions=use_decisions,
        hide=hide,
    )
    return request, problem or unusable or _problem(request)


def _problem(request: TrainRequest) -> str:
    try:
        settings_of(request)
    except InputError as error:
        return str(error)
    return ""


# ---- the main choices -----------------------------------------------------------------------


def show_methods(*, has_gold: bool) -> tuple[str, ...]:
    """Draw one checkbox per method, the paper's three first; return the chosen methods."""
    st.html('<div class="gl-label">Methods</div>')
    first = [method for method in METHODS.values() if method.is_offered_first]
    chosen = [method.name for method in first if show_method(method)]
    with st.expander("Other methods", key="train_other_methods"):
        st.caption("The baselines of the paper, to compare with.")
        for method in METHODS.values():
            if method.is_offered_first or (method.needs_gold and not has_gold):
                continue
            if show_method(method):
                chosen.append(method.name)
    return tuple(chosen)


def show_method(method: Method) -> bool:
    """Draw the checkbox of a method with its explanation below; return whether it is chosen."""
    with st.container(gap=None):
        is_chosen = st.checkbox(
            method.title,
            value=method.is_offered_first,
            key=f"train_method_{method.name}",
            persist_state="session",
        )
        st.html(f'<div class="gl-choice">{method.help}</div>')
    return is_chosen


def show_preset() -> str:
    """Draw the choice of preset: how long to train."""
    return str(
        st.radio(
            "Preset",
            list(TRAINING_PRESETS),
            index=list(TRAINING_PRESETS).index(DEFAULT_TRAINING_PRESET),
            format_func=str.capitalize,
            captions=[wording.TRAINING_PRESETS[preset] for preset in TRAINING_PRESETS],
            key="train_preset",
            persist_state="session",
        )
    )


def show_decisions(project: Project) -> bool:
    """Draw whether to learn from the user's decisions, if there are any."""
    decided = [*project.decisions("check"), *project.decisions("review")]
    count = sum(decision.verdict in ("accepted", "rejected", "edited") for decision in decided)
    if not count:
        return False
    return st.checkbox(
        f"Learn from your {elements.plural(count, 'decision')}",
        value=True,
        key="train_decisions",
        help="Accepted entities become labels, rejected ones become known non-entities. Both "
        "overrule the dictionaries.",
        persist_state="session",
    )


def show_hidden() -> float:
    """Draw whether to compare on hidden phrases; return the share of phrases to hide."""
    is_chosen = st.checkbox(
        "Compare on hidden phrases",
        key="train_hidden",
        help="For a choice without gold: after the run, every method trains once more with a tenth "
        "of the phrases hidden, and Compare tells which finds most of their words. Takes twice as "
        "long; the run itself learns from all phrases.",
        persist_state="session",
    )
    return HIDDEN_SHARE if is_chosen else 0.0


# ---- advanced -------------------------------------------------------------------------------


def show_priors(project: Project) -> tuple[dict[str, float] | None, str]:
    """Draw the priors; return those that the user gave, and what is wrong with them."""
    known = state.priors(project)
    st.html('<div class="gl-label">Priors</div>')
    st.caption(
        "The share of all tokens that belongs to each type, matched or not. MPU, BNPU and "
        "Conf-MPU need it; MPN uses it as a weight."
    )
    table = pd.DataFrame(
        {
            "entity_type": [prior.entity_type for prior in known],
            "labeled": [100 * prior.labeled_share for prior in known],
            "prior": [None if prior.value is None else 100 * prior.value for prior in known],
            "source": [prior.source for prior in known],
        }
    ).astype({"prior": float})
    share = st.column_config.NumberColumn
    edited = st.data_editor(
        table,
        column_config={
            "entity_type": "Type",
            "labeled": share("Labeled (%)", format="%.2f", help="Tokens matched by a phrase."),
            "prior": share(
                "Prior (%)",
                format="%.2f",
                min_value=0.0,
                max_value=100.0,
                step=0.01,
                help="Click to change it (π in the paper). If empty, the run estimates it.",
            ),
            "source": "Source",
        },
        disabled=["entity_type", "labeled", "source"],
        placeholder="–",
        hide_index=True,
        key=f"train_priors_{project.labels_key()}_{hash(tuple(known))}",
    )
    show_estimate(project)
    for note in state.prior_notes(project):
        st.caption(elements.plain(elements.sentence(note)))
    return read_priors(known, edited)


def show_estimate(project: Project) -> None:
    """Draw the button that estimates the priors now instead of when the run starts."""
    if st.button(
        "Estimate now",
        key="train_estimate",
        icon=":material/percent:",
        help="Estimates the priors from the labels (with TIcE), so you can check them first.",
    ):
        with st.spinner("Estimating the priors", show_time=True):
            state.estimate(project)
        st.rerun()


def read_priors(
    known: list[state.Prior], edited: pd.DataFrame
) -> tuple[dict[str, float] | None, str]:
    """Return the priors of the edited table, and what is wrong with them."""
    values = {
        name: None if pd.isna(value) else value / 100
        for name, value in zip(edited["entity_type"], edited["prior"], strict=True)
    }
    # An unchanged prior keeps its exact value, not its percentage divided by 100.
    shown = {p.entity_type: p.value for p in known if p.value is not None}
    for name, value in values.items():
        if value is not None and name in shown and abs(value - shown[name]) < 1e-9:
            values[name] = shown[name]
    try:
        return state.chosen_priors(known, values), ""
    except InputError as error:
        return None, str(error)


def show_settings(base: Settings, key: str, *, has_confidence: bool) -> tuple[dict[str, Any], int]:
    """Draw the settings; return those that differ from the preset, and the seed."""
    chosen: dict[str, Any] = {}
    left, right = st.columns(2)
    with left:
        chosen["epochs"] = st.number_input(
            "Epochs",
            1,
            1_000,
            base.epochs,
            key=f"train_epochs_{key}",
            help="How many times training goes through the whole text.",
        )
        chosen["confidence_model"] = st.selectbox(
            "Confidence from",
            list(CONFIDENCE_MODELS),
            index=list(CONFIDENCE_MODELS).index(base.confidence_model),
            format_func=CONFIDENCE_MODELS.__getitem__,
            key=f"train_confidence_model_{key}",
            disabled=not has_confidence,
            help="Conf-MPU only: what estimates how likely a token is part of an entity. The "
            "linear model takes seconds; the paper trains a network.",
        )
        is_network = chosen["confidence_model"] == "network"
        if is_network:
            chosen["confidence_epochs"] = st.number_input(
                "Epochs of the confidence tagger",
                1,
                1_000,
                base.confidence_epochs,
                key=f"train_confidence_epochs_{key}",
                disabled=not has_confidence,
                help="Conf-MPU only: how long the first tagger learns to tell entity from "
                "non-entity.",
            )
        chosen["learning_rate"] = st.number_input(
            "Learning rate",
            1e-6,
            0.1,
            base.learning_rate,
            step=1e-4,
            format="%.6g",
            key=f"train_learning_rate_{key}",
            help="How far each step moves the weights. Lower it if the risk jumps.",
        )
        seed = st.number_input(
            "Seed",
            0,
            1_000_000,
            0,
            key="train_seed",
            help="Another seed starts from different weights; the same seed gives the same result.",
        )
    with right:
        if is_network:  # the linear model leaves out as many as the priors say, at any threshold
            chosen["confidence_threshold"] = st.number_input(
                "Confidence threshold",
                0.0,
                1.0,
                base.confidence_threshold,
                step=0.05,
                key=f"train_confidence_threshold_{key}",
                disabled=not has_confidence,
                help="Conf-MPU only: unlabeled tokens above it do not count as non-entities (τ in "
                "the paper).",
            )
        chosen["entity_weight"] = st.number_input(
            "Entity weight",
            0.1,
            1_000.0,
            base.entity_weight,
            step=1.0,
            key=f"train_entity_weight_{key}",
            help="How much labeled tokens count relative to unlabeled ones (γ in the paper). Raise "
            "it if too few entities are found.",
        )
        chosen["batch_size"] = st.number_input(
            "Sentences per batch",
            1,
            1_000,
            base.batch_size,
            key=f"train_batch_size_{key}",
            help="How many sentences each step learns from. Lower it if memory runs out.",
        )
        chosen["loss"] = st.selectbox(
            "Loss",
            list(LOSSES),
            index=list(LOSSES).index(base.loss),
            format_func=LOSSES.__getitem__,
            key=f"train_loss_{key}",
            help="How the error of a single token is measured. The paper uses the absolute error.",
        )
    if base.encoder == "bilstm":
        has_context = st.checkbox(
            "Use the context of words",
            value=base.contextual_layer > 0,
            key=f"train_context_{key}",
            help="The transformer above, which is not trained, reads the text once; the tagger "
            "then sees what words mean in their context. Without it, the tagger misses more, but "
            "finds entities in new text about five times faster.",
        )
        chosen["contextual_layer"] = (base.contextual_layer or _CONTEXT_LAYER) * has_context
    changed = {name: value for name, value in chosen.items() if value != getattr(base, name)}
    return changed, int(seed)


# ---- the pre-flight box ---------------------------------------------------------------------


def figures_html(plan: state.Plan, request: TrainRequest) -> str:
    """Return what a run trains on, and its epochs and steps, as HTML."""
    settings = _settings(request)
    lines = [
        f"<b>{plan.tokens:,}</b> tokens in <b>{plan.sentences:,}</b> sentences",
        labeled_html(plan),
    ]
    if request.methods and settings is not None:
        lines.append(work_html(request, settings, plan))
    return "".join(f'<div class="gl-fact">{line}</div>' for line in lines)


def labeled_html(plan: state.Plan) -> str:
    """Return the number of labeled tokens of each type as HTML."""
    colors = type_colors(plan.labeled)
    items = (
        f'<span><mark class="gl-mark" style="--type:{colors[name]}">{escape(name)}</mark> '
        f"{count:,}</span>"
        for name, count in plan.labeled.items()
    )
    return f'Labeled tokens<div class="gl-legend">{"".join(items)}</div>'


def work_html(request: TrainRequest, settings: Settings, plan: state.Plan) -> str:
    """Return the epochs of each method, and the steps of all methods together, as HTML."""
    work_by_method = state.work_of(request.methods, settings, plan)
    epochs = " · ".join(
        f"{wording.METHOD_NAMES[method]} {work.epochs:,}" for method, work in work_by_method.items()
    )
    steps = sum(work.steps for work in work_by_method.values())
    return f"Epochs: {epochs}<br>{steps:,} steps in total"


def _settings(request: TrainRequest) -> Settings | None:
    try:
        return settings_of(request)
    except InputError:
        return None
