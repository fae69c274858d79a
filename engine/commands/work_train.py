"""Train jobs: text and dictionaries become one tagger a method, what each finds, and scores."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.commands.terminal import note_all
from engine.commands.work_found import TRAINED, predict_all
from engine.commands.work_pace import Pace
from engine.commands.work_setup import (
    Labeled,
    Stopwatch,
    Work,
    context_folder,
    keep_project_context,
    read_and_label,
    write_speeds,
)
from engine.comparison import compare
from engine.decisions import Review
from engine.device import choose_device, set_threads
from engine.job_plan import Speed, epochs_of, side_by_side
from engine.job_requests import ProbeRequest, TrainRequest, settings_of
from engine.job_results import epochs, run_folder
from engine.priors import Priors, estimate_priors, given_priors
from engine.progress import Progress
from engine.run_card import checkpoints, confidence_files, has_card, read_card
from engine.speed import measure_speeds
from engine.text import Document, Entity
from engine.training import stored_history
from engine.training_data import (
    TrainingData,
    check_data,
    complete_labels,
    data_warnings,
    make_training_data,
)

Found = Mapping[str, tuple[Entity, ...]]
_PREPARED = 0.03  # share of a whole job that goes before training
_BINS = 40  # of the confidence histogram


def train_job(work: Work, request: TrainRequest) -> bool:
    """Train, predict and score; False when stopped on the way."""
    watch = Stopwatch()
    settings = settings_of(request)
    labeled = read_and_label(work)
    data = _training_data(work, request, labeled)
    data = replace(data, cache=context_folder(work.project))
    priors = _priors(work, request, data)
    notes = [*priors.notes, *data_warnings(data, settings)]
    work.report.fact("notes", notes)
    note_all(notes)
    if not keep_project_context(work, data.sentences, settings):
        return False
    device = choose_device().type
    prepared = Speed("", "prepare", labeled.tokens / watch.seconds)
    _recall_epochs(work, request, data)
    listener = _Listener(work, request, data, device)
    work.report.progress(stage="training", share=_PREPARED)
    folders = compare(
        data,
        priors.values,
        settings,
        request.methods,
        work.report.job.folder,
        dictionaries=labeled.dictionaries,
        gold_labels=_gold_labels(work, request, labeled),
        workers=side_by_side(len(request.methods), device),
        on_progress=listener,
        should_stop=work.should_stop,
    )
    if work.should_stop():
        return False
    _complete_records(work, request, data)
    watch = Stopwatch()
    if not predict_all(work, labeled, folders):
        return False
    predicted = Speed("", "predict", labeled.tokens * len(folders) / watch.seconds)
    write_speeds(work, settings, device, [prepared, *_epoch_speeds(work), predicted])
    return True


def probe_job(work: Work, request: ProbeRequest) -> bool:
    """Measure the speed of each method on a few batches."""
    labeled = read_and_label(work)
    job, settings = work.report.job, settings_of(request)
    data = make_training_data(
        labeled.corpus.documents, labeled.dictionaries, labeled.labels, job.match_preset
    )
    device = choose_device().type
    if side_by_side(len(request.methods), device) > 1:
        set_threads(1)  # as in the training that is timed
    work.report.progress(stage="training", share=0.2)
    speeds = measure_speeds(data, settings, request.methods)
    write_speeds(work, settings, device, [Speed(*key, value) for key, value in speeds.items()])
    return True


# ---- before training ------------------------------------------------------------------------


def _training_data(work: Work, request: TrainRequest, labeled: Labeled) -> TrainingData:
    documents = labeled.corpus.documents
    review = _review(work, documents) if request.use_decisions else Review({}, {})
    return make_training_data(
        documents,
        labeled.dictionaries,
        labeled.labels,
        work.report.job.match_preset,
        accepted=review.accepted,
        rejected=review.rejected,
    )


def _review(work: Work, documents: tuple[Document, ...]) -> Review:
    """The decisions as they were when the job began first; later ones would undo its epochs."""
    known = work.report.known("decisions")
    if known is not None:
        return Review(*(_entities(known[name]) for name in ("accepted", "rejected")))
    review = work.project.review_effect(documents)
    work.report.fact(
        "decisions", {"accepted": _places(review.accepted), "rejected": _places(review.rejected)}
    )
    return review


def _places(entities: Found) -> dict[str, list[tuple[int, int, str]]]:
    return {id: [(e.start, e.end, e.entity_type) for e in of] for id, of in entities.items()}


def _entities(places: Mapping[str, list[tuple[int, int, str]]]) -> Found:
    return {id: tuple(Entity(*place, method="review") for place in of) for id, of in places.items()}


def _gold_labels(
    work: Work, request: TrainRequest, labeled: Labeled
) -> npt.NDArray[np.int16] | None:
    """What the upper reference learns from, when it is asked for; gold scores the others only."""
    if "supervised" not in request.methods:
        return None
    gold = work.project.gold(labeled.corpus)
    documents, types = labeled.corpus.documents, labeled.labels.types
    return None if gold is None else complete_labels(documents, gold.entities, types)


def _priors(work: Work, request: TrainRequest, data: TrainingData) -> Priors:
    work.report.progress(stage="priors", share=_PREPARED / 2)
    if (known := work.report.known("all_priors")) is not None:
        return Priors(**{**known, "values": np.array(known["values"])})
    if request.priors is not None:
        priors = given_priors(request.priors, data.types, labels=data.labels)
    else:
        priors = estimate_priors(data.sentences, data.labels, data.types, seed=request.seed)
    check_data(data, priors.values)
    # All of them, to the last bit: estimating takes long, and checkpoints hold for these only.
    work.report.fact("all_priors", {**asdict(priors), "values": priors.values.tolist()})
    rows = zip(priors.types, priors.values[1:], priors.source, priors.labeled_share, strict=True)
    work.report.fact(
        "priors",
        [
            {"entity_type": name, "value": float(value), "source": source, "labeled_share": share}
            for name, value, source, share in rows
        ],
    )
    return priors


# ---- while training -------------------------------------------------------------------------


class _Listener:
    """Writes every epoch down, and what the confidence looks like once it is known."""

    def __init__(self, work: Work, request: TrainRequest, data: TrainingData, device: str) -> None:
        self._work, self._data = work, data
        settings, methods = settings_of(request), request.methods
        plan = {method: epochs_of(method, settings, len(data.types)) for method in methods}
        self._pace = Pace(plan, side_by_side(len(methods), device))
        for method in methods:
            if has_card(run_folder(work.report.job, method)):
                self._pace.finish(method)
        self._is_drawn = False

    def __call__(self, progress: Progress) -> None:
        epoch = progress.epoch
        self._pace.hear(progress.method, progress.stage, epoch.number, epoch.seconds)
        if progress.stage == "training" and progress.method == "conf_mpu" and not self._is_drawn:
            self._is_drawn = True
            folder = run_folder(self._work.report.job, "conf_mpu")
            draw_confidence(self._work, self._data, confidence_files(folder))
        self._work.report.epochs(
            [_row(progress.method, progress.stage, progress.epochs, asdict(epoch))],
            stage=progress.stage,
            method=progress.method,
            share=_PREPARED + (TRAINED - _PREPARED) * self._pace.share,
            seconds_left=self._pace.seconds_left,
        )
        self._work.on_progress(progress)


def _row(method: str, stage: str, epochs: int, epoch: dict[str, Any]) -> dict[str, Any]:
    number = epoch.pop("number")
    return {"method": method, "stage": stage, "epoch": number, "epochs": epochs, **epoch}


def draw_confidence(work: Work, data: TrainingData, paths: Any) -> None:
    """Write the histogram of the confidences in the first of the files that is there."""
    for path in paths:
        values = np.load(path, allow_pickle=False)
        work.report.fact("confidence_histogram", confidence_bins(values, data.labels))
        return


def confidence_bins(
    values: npt.NDArray[np.float32], labels: npt.NDArray[np.int16]
) -> list[dict[str, float]]:
    """Return how many labeled and unlabeled tokens have each confidence, as rows of a table.

    >>> rows = confidence_bins(np.array([0.01, 0.99, 0.98]), np.array([0, 0, 3]))
    >>> rows[-1]
    {'low': 0.975, 'high': 1.0, 'labeled': 1, 'unlabeled': 1}
    """
    edges = np.arange(_BINS + 1) / _BINS
    labeled, unlabeled = (
        np.histogram(values[chosen], edges)[0] for chosen in (labels > 0, labels == 0)
    )
    return [
        {"low": float(low), "high": float(high), "labeled": int(n), "unlabeled": int(m)}
        for low, high, n, m in zip(edges[:-1], edges[1:], labeled, unlabeled, strict=True)
    ]


def _recall_epochs(work: Work, request: TrainRequest, data: TrainingData) -> None:
    """Write down what a kill kept from it: a checkpoint is stored before its epoch is heard of."""
    settings = settings_of(request)
    for method in request.methods:
        totals = epochs_of(method, settings, len(data.types))
        per_tagger = {"confidence": settings.confidence_epochs, "training": settings.epochs}
        for kept in checkpoints(run_folder(work.report.job, method)):
            before = per_tagger[kept.stage] * kept.tagger  # numbers count through all taggers
            work.report.epochs(
                _row(method, kept.stage, totals[kept.stage], asdict(epoch) | {"number": before + i})
                for i, epoch in enumerate(stored_history(kept.path), start=1)
            )


def _complete_records(work: Work, request: TrainRequest, data: TrainingData) -> None:
    """Write down what a kill kept from it just before the end: the run's card has all epochs."""
    for method in request.methods:
        card = read_card(run_folder(work.report.job, method))
        histories = {"confidence": card.confidence_histories, "training": (card.history,)}
        for stage, taggers in histories.items():
            history = list(chain.from_iterable(taggers))
            work.report.epochs(
                _row(method, stage, len(history), {**epoch, "number": number})
                for number, epoch in enumerate(history, start=1)
            )
    if work.report.known("confidence_histogram") is None:
        folder = run_folder(work.report.job, "conf_mpu")
        draw_confidence(work, data, confidence_files(folder))


def _epoch_speeds(work: Work) -> list[Speed]:
    """The usual speed of each stage: the median, since the first epochs are slower."""
    table = epochs(work.project, work.report.job.id)
    medians = table.groupby(["method", "stage"])["tokens_per_second"].median().reset_index()
    return [Speed(*row) for row in medians.itertuples(index=False, name=None)]
