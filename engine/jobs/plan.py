"""Estimate what a job will need: seconds, by measured speeds, and room on the disk."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from engine.dictionaries import active_types
from engine.jobs.requests import (
    CurveRequest,
    ProbeRequest,
    Request,
    SuggestRequest,
    TrainRequest,
    settings_of,
)
from engine.jobs.speeds import Speeds, measured_speeds, rough_speeds
from engine.planning import CONFIDENCE, METHODS, TRAINING
from engine.projects import Project
from engine.settings import Settings
from engine.text import InputError

_MB = 1_000_000
_MINILM_BYTES = 91 * _MB
_UNKNOWN_ENCODER_BYTES = 440 * _MB  # BERT base, the size most encoders have


def side_by_side(tasks: int, device: str = "cpu") -> int:
    """Return how many tasks are trained at once: one per core; a GPU is not shared."""
    return 1 if device != "cpu" else max(1, min(tasks, os.cpu_count() or 1))


def makespan(seconds: Sequence[float], workers: int) -> float:
    """Return when the last task ends if the longest begin first.

    >>> makespan([10, 10, 25], 2)
    25
    """
    ends: list[float] = [0] * max(1, workers)
    for task in sorted(seconds, reverse=True):
        ends[ends.index(min(ends))] += task
    return max(ends)


# ---- seconds --------------------------------------------------------------------------------


def estimate(project: Project, request: Request) -> float | None:
    """Return the seconds that a training or a curve will take; None when nothing was measured.

    The speeds are those of a probe or a run of the same network on this machine, in any project.
    """
    if not isinstance(request, TrainRequest | ProbeRequest | CurveRequest):
        return None
    speeds = measured_speeds(project, settings_of(request))
    if not any(stage == TRAINING for _, stage in speeds):
        return None
    return _at_speeds(project, request, speeds)


def rough_estimate(project: Project, request: Request) -> float | None:
    """Return about how many seconds a training or a curve takes, if nothing was measured yet.

    None without text, and for other jobs.
    """
    if not isinstance(request, TrainRequest | ProbeRequest | CurveRequest):
        return None
    return _at_speeds(project, request, rough_speeds(project, settings_of(request)))


def _at_speeds(
    project: Project, request: TrainRequest | ProbeRequest | CurveRequest, speeds: Speeds
) -> float | None:
    tokens = sum(file.tokens for file in project.text_files())
    settings = settings_of(request)
    if not tokens:
        return None
    types = _type_count(project, request.methods)
    costs = [
        _seconds(method, settings, speeds, tokens=tokens, types=types) for method in request.methods
    ]
    shares, seeds = 1, 1
    if isinstance(request, CurveRequest):
        shares, seeds = len(request.fractions), len(request.seeds)
    if isinstance(request, TrainRequest) and request.hide:
        shares = 2  # once more without the hidden phrases
    tasks = costs * seeds
    workers = side_by_side(len(tasks), next(iter(speeds.values())).device)
    rest = _once(speeds, "prepare", tokens) + len(tasks) * _once(speeds, "predict", tokens)
    return shares * (makespan(tasks, workers) + rest)


def _type_count(project: Project, methods: Sequence[str]) -> int:
    """Return the number of entity types; 1 if no method trains longer with more of them."""
    if not any(METHODS[method].has_tagger_per_type for method in methods):
        return 1  # reading large dictionaries takes time
    return len(active_types(project.dictionaries()))


def _seconds(
    method: str,
    settings: Settings,
    speeds: Speeds,
    *,
    tokens: int,
    types: int,
) -> float:
    folds = settings.confidence_folds
    seconds = 0.0
    for stage, epochs in METHODS[method].epochs(settings, types).items():
        measured = speeds.get((method, stage)) or speeds.get(("", stage))
        # An epoch costs nearly the same under any risk: the network is the same.
        alike = [s.tokens_per_second for (_, name), s in speeds.items() if name == TRAINING]
        speed = measured.tokens_per_second if measured else fmean(alike)
        seen = tokens * (folds - 1) / folds if stage == CONFIDENCE and folds > 1 else tokens
        seconds += epochs * seen / speed
    return seconds


def _once(speeds: Speeds, stage: str, tokens: int) -> float:
    measured = speeds.get(("", stage))
    return tokens / measured.tokens_per_second if measured else 0.0


# ---- room -----------------------------------------------------------------------------------


def check_room(project: Project, request: Request) -> None:
    """Raise InputError when the disk has less room than the job will need."""
    needed = needed_bytes(project, request)
    free = shutil.disk_usage(project.folder).free
    if free < needed:
        raise InputError(
            f"Only {_size(free)} left in {project.folder.parent}. Training needs about "
            f"{_size(needed)}. Delete old runs or enlarge the volume"
        )


def needed_bytes(project: Project, request: Request) -> int:
    """Return about how much a job writes, checkpoints included."""
    if not isinstance(request, TrainRequest | CurveRequest | SuggestRequest):
        return 5 * _MB
    settings = settings_of(request)
    tokens = sum(file.tokens for file in project.text_files())
    context = 384 * 2 if settings.contextual_layer else 0  # bytes per token
    if isinstance(request, SuggestRequest):
        return (context + 7) * tokens + 5 * _MB
    tasks = len(request.methods)
    if isinstance(request, CurveRequest):
        tasks *= len(request.fractions) * len(request.seeds)
    elif request.hide:
        tasks *= 2
    # The weights of each task. While it trains: weights and Adam's two averages, twice while
    # the next checkpoint is written, and once more for the confidence tagger.
    weights = (tasks + 9 * side_by_side(tasks)) * _weight_bytes(settings)
    # One confidence per token, and a row of some 200 bytes for one token in ten.
    per_token = 24 * tasks + context
    return weights + tasks * _frozen_bytes(settings) + per_token * tokens + 10 * _MB


def _frozen_bytes(settings: Settings) -> int:
    """The bytes of the frozen encoder, which a run keeps unless it comes with Glossa."""
    is_kept = settings.contextual_layer and settings.encoder_name != "minilm"
    return _encoder_bytes(settings) if is_kept and settings.encoder == "bilstm" else 0


def _encoder_bytes(settings: Settings) -> int:
    if settings.encoder_name == "minilm":
        return _MINILM_BYTES
    files = list(Path(settings.encoder_name).glob("*.safetensors"))
    return sum(path.stat().st_size for path in files) or _UNKNOWN_ENCODER_BYTES


def _weight_bytes(settings: Settings) -> int:
    if settings.encoder == "transformer":
        return _encoder_bytes(settings)
    inputs = 150 + (384 if settings.contextual_layer else 0)
    return 4 * 8 * settings.hidden_size * (inputs + settings.hidden_size)


def _size(count: int) -> str:
    return f"{count / _MB:,.0f} MB" if count < 1000 * _MB else f"{count / 1000 / _MB:,.1f} GB"
