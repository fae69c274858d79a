"""The state of the Train page: priors, the plan of a run, and the runs so far."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import streamlit as st

from engine import jobs
from engine.jobs import (
    TrainRequest,
    measured_speeds,
    request_from,
    scores_of,
    settings_of,
    side_by_side,
)
from engine.labels import DistantLabels
from engine.planning import (
    METHODS,
    TrainingWork,
    check_labels,
    check_priors,
    estimate_priors,
    label_warnings,
    labeled_tokens,
    training_work,
)
from engine.projects import Project
from engine.settings import Settings
from engine.text import InputError
from ui.state import corpus
from ui.state import labels as labels_state
from ui.state.labels import Key

_PRIORS = "priors"  # a choice that the project keeps, with the key of the labels it was made from
ESTIMATED, LATER = "estimated", "estimated when the run starts"
_RECENT = timedelta(minutes=10)


# ---- before a run ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would be trained on, with warnings and problems."""

    tokens: int
    sentences: int
    labeled: Mapping[str, int]  # tokens by entity type
    warnings: tuple[str, ...]
    problem: str  # why nothing can be learned from it; "" if something can


def plan(project: Project) -> Plan:
    """Return what is known before a run starts."""
    return _plan((project.id, project.labels_key()), project)


def work_of(methods: Sequence[str], settings: Settings, plan: Plan) -> dict[str, TrainingWork]:
    """Return the epochs and steps of each method."""
    return {
        method: training_work(method, settings, plan.sentences, types=len(plan.labeled))
        for method in methods
    }


def device_line(project: Project, settings: Settings) -> str:
    """Return where a run would be trained, as far as this is known without torch."""
    devices = {speed.device for speed in measured_speeds(project, settings).values()}
    if devices and devices != {"cpu"}:
        return f"Trains on {' and '.join(sorted(devices))}, one method after the other."
    cores = side_by_side(1_000)
    known = "1 core" if cores == 1 else f"{cores} cores, so {cores} methods can train in parallel"
    return f"This machine has {known}. A GPU is used if there is one."


@dataclass(frozen=True, slots=True)
class Prior:
    """The share of all tokens that belongs to a type, as far as it is known."""

    entity_type: str
    labeled_share: float
    value: float | None  # None: estimated when the run starts
    source: str


def priors(project: Project) -> list[Prior]:
    """Return one prior per type; an estimate holds only for the labels that it was made from."""
    planned = plan(project)
    stored = project.choice(_PRIORS) or {}
    values = stored.get("values", {}) if stored.get("labels_key") == project.labels_key() else {}
    return [
        Prior(
            name,
            count / max(planned.tokens, 1),
            values.get(name),
            ESTIMATED if name in values else LATER,
        )
        for name, count in planned.labeled.items()
    ]


def prior_notes(project: Project) -> list[str]:
    """Return the notes of the estimation: scaled, rough, sampled."""
    stored = project.choice(_PRIORS) or {}
    is_current = stored.get("labels_key") == project.labels_key()
    return list(stored.get("notes", ())) if is_current else []


def estimate(project: Project) -> None:
    """Estimate the priors from the current labels, and keep them with the project."""
    key, labels = project.labels_key(), labels_state.labels(project)
    sentences = [sentence.tokens for sentence in corpus.sentences(project)]
    estimated = estimate_priors(sentences, labels.labels, labels.types)
    values = dict(zip(estimated.types, estimated.values[1:].tolist(), strict=True))
    record = {"labels_key": key, "values": values, "notes": list(estimated.notes)}
    project.set_choice(_PRIORS, record)


def chosen_priors(
    known: Sequence[Prior], edited: Mapping[str, float | None]
) -> dict[str, float] | None:
    """Return the priors to train with; None if they are to be estimated when the run starts.

    `edited` has the values that the user sees, by type. InputError if they are impossible.
    """
    before = {prior.entity_type: prior.value for prior in known}
    given = {name: value for name, value in edited.items() if value is not None}
    if not given or given == before:
        return None
    if len(given) < len(before):
        missing = ", ".join(name for name in before if name not in given)
        raise InputError(f"{missing} has no prior. Give one for each type, or estimate them")
    check_priors(np.array(list(given.values())))
    return given


# ---- runs -----------------------------------------------------------------------------------


def runs(project: Project) -> list[jobs.Job]:
    """Return the training runs, newest first."""
    return jobs.list_jobs(project, "train")


def f1_scores(project: Project, job: jobs.Job) -> dict[str, float | None]:
    """Return F1 by method, in percent."""
    percents = {}
    for method, measures in scores_of(project, job.id).items():
        f1 = measures.get("overall", {}).get("f1")
        percents[method] = None if f1 is None else 100 * f1
    return percents


def seconds(job: jobs.Job) -> float | None:
    """Return how long a job has run; None before it started."""
    if job.started_at is None:
        return None
    return ((job.finished_at or datetime.now(UTC)) - job.started_at).total_seconds()


def is_recent(job: jobs.Job) -> bool:
    """Return whether a job ended within the last minutes."""
    return job.finished_at is not None and datetime.now(UTC) - job.finished_at < _RECENT


def history(project: Project, train_jobs: Sequence[jobs.Job]) -> pd.DataFrame:
    """Return one row per run: when, state, preset, methods, dictionary version, F1s, seconds."""
    rows = []
    for job in train_jobs:
        f1 = f1_scores(project, job)
        rows.append(
            {
                "id": job.id,
                "started": job.started_at or job.created_at,
                "state": job.state,
                "preset": str(job.request["preset"]).capitalize(),
                "methods": list(job.request["methods"]),
                "dictionaries": job.dictionary_version,
                **{f"f1_{method}": f1.get(method) for method in METHODS},
                "seconds": seconds(job),
            }
        )
    return pd.DataFrame(rows)


def request_of(job: jobs.Job) -> TrainRequest:
    """Return the request of a run."""
    request = request_from(job.kind, job.request)
    assert isinstance(request, TrainRequest)
    return request


def threshold(job: jobs.Job) -> float:
    """Return the confidence above which unlabeled tokens do not count as non-entities."""
    return settings_of(request_of(job)).confidence_threshold


def is_self_trained(job: jobs.Job) -> bool:
    """Return whether a student learned from the first tagger of each method."""
    return settings_of(request_of(job)).is_self_trained


def described(job: jobs.Job) -> dict[str, str]:
    """Return everything that a run's result depends on, by name."""
    request = request_of(job)
    settings = {
        name: _shown(value)
        for name, value in asdict(settings_of(request)).items()
        if name not in ("method", "seed", "encoder")
    }
    return {
        "methods": ", ".join(request.methods),
        "preset": request.preset,
        "encoder": request.encoder,
        "seed": str(request.seed),
        "dictionary_version": str(job.dictionary_version),
        "match_preset": job.match_preset,
        "text": job.text_key[:8],
        "learns_from_decisions": _shown(request.use_decisions),
        "priors": _shown_priors(request.priors),
        **settings,
    }


def differences(project: Project, first: jobs.Job, second: jobs.Job) -> pd.DataFrame:
    """Return what differs between two runs, settings first, then scores: what, first, second."""
    one, other = described(first), described(second)
    rows = [(name, one[name], other[name]) for name in one if one[name] != other[name]]
    f1s = f1_scores(project, first), f1_scores(project, second)
    for method in dict.fromkeys((*f1s[0], *f1s[1])):
        pair = [f1_by_method.get(method) for f1_by_method in f1s]
        if pair[0] != pair[1]:
            shown = ["–" if f1 is None else f"{f1:.1f}" for f1 in pair]
            rows.append((f"F1 of {method} (%)", shown[0], shown[1]))
    return pd.DataFrame(rows, columns=["what", "first", "second"])


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _shown_priors(values: Mapping[str, float] | None) -> str:
    if values is None:
        return "estimated"
    return ", ".join(f"{name} {100 * value:.2f} %" for name, value in sorted(values.items()))


def _warnings(project: Project, labels: DistantLabels) -> tuple[str, ...]:
    sentences = [sentence.tokens for sentence in corpus.sentences(project)]
    return tuple(label_warnings(labels.labels, labels.types, sentences))


@st.cache_resource(max_entries=4, show_spinner=False)
def _plan(key: Key, _project: Project) -> Plan:
    labels = labels_state.labels(_project)
    problem = ""
    try:
        check_labels(labels.labels, labels.types)
    except InputError as error:
        problem = str(error)
    return Plan(
        len(labels.labels),
        len(labels.bounds) - 1,
        dict(zip(labels.types, labeled_tokens(labels.labels, labels.types), strict=True)),
        () if problem else _warnings(_project, labels),
        problem,
    )
