"""Train jobs: train each method on the project's text and dictionaries, predict and score."""

import shutil
from collections.abc import Mapping
from dataclasses import asdict
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.experiment import Prepared, prepare
from engine.jobs import (
    ProbeRequest,
    Speed,
    TrainRequest,
    epochs,
    run_folder,
    settings_of,
    side_by_side,
)
from engine.jobs.worker.outcome import TRAINED, predict_all
from engine.jobs.worker.pace import Pace
from engine.jobs.worker.setup import (
    ActiveJob,
    Entities,
    LabeledText,
    Stopwatch,
    context_folder,
    keep_project_context,
    read_and_label,
    write_speeds,
)
from engine.learning import (
    Progress,
    TrainingData,
    complete_labels,
    make_training_data,
    stored_history,
)
from engine.network import Stopped, Tokens, choose_device, set_threads
from engine.planning import CONFIDENCE, METHODS, TRAINING, Priors
from engine.projects import keep_doubtful
from engine.review import Review
from engine.run_folder import checkpoints, confidence_files, has_card, read_card, read_confidence
from engine.runs import compare, compare_hidden, measure_speeds
from engine.system import note_all
from engine.text import Document, Entity, InputError

_PREPARED = 0.03  # share of a whole job that is done before training
_FIRST_OF_TWO = 0.5  # share of a whole job that is done when another training follows
_BINS = 40  # of the confidence histogram
_HIDDEN = "hidden"  # folder of the runs without the hidden phrases; deleted when they are counted


def train_job(active: ActiveJob, request: TrainRequest) -> bool:
    """Train, predict and score; return False when stopped on the way."""
    watch = Stopwatch()
    settings = settings_of(request)
    text = read_and_label(active)
    try:
        prepared = _prepare(active, request, text)
    except Stopped:
        return False
    data = prepared.data
    active.report.fact("notes", list(prepared.notes))
    note_all(prepared.notes)
    if not keep_project_context(active, data.sentences, settings):
        return False
    device = choose_device().type
    preparing = Speed("", "prepare", text.tokens / watch.seconds)
    _recall_epochs(active, request, data)
    part = _FIRST_OF_TWO if request.hide else 1.0
    listener = _Listener(active, request, data, device, part)
    active.report.progress(stage="training", share=_PREPARED)
    folders = compare(
        data,
        prepared.priors.values,
        settings,
        request.methods,
        active.report.job.folder,
        dictionaries=text.dictionaries,
        gold_labels=_gold_labels(active, request, text),
        workers=side_by_side(len(request.methods), device),
        on_progress=listener,
        should_stop=active.should_stop,
    )
    if active.should_stop():
        return False
    _complete_records(active, request, data)
    watch = Stopwatch()
    if not predict_all(active, text, folders, part):
        return False
    predicting = Speed("", "predict", text.tokens * len(folders) / watch.seconds)
    write_speeds(active, settings, device, [preparing, *_epoch_speeds(active), predicting])
    return not request.hide or _compare_hidden(active, request, text, prepared, device)


def probe_job(active: ActiveJob, request: ProbeRequest) -> bool:
    """Measure the speed of each method on a few batches."""
    text = read_and_label(active)
    job, settings = active.report.job, settings_of(request)
    data = make_training_data(
        text.corpus.documents, text.dictionaries, text.labels, job.match_preset
    )
    device = choose_device().type
    if side_by_side(len(request.methods), device) > 1:
        set_threads(1)  # as in the training that the probe is for
    active.report.progress(stage="training", share=0.2)
    speeds = measure_speeds(data, settings, request.methods)
    write_speeds(active, settings, device, [Speed(*key, value) for key, value in speeds.items()])
    return True


# ---- before training ------------------------------------------------------------------------


def _prepare(active: ActiveJob, request: TrainRequest, text: LabeledText) -> Prepared:
    """Return what the methods learn from; a resumed job keeps its decisions and priors."""
    documents = text.corpus.documents
    review = _review(active, documents) if request.use_decisions else Review({}, {})
    active.report.progress(stage="priors", share=_PREPARED / 2)
    known, settings = _known_priors(active), settings_of(request)

    def encode(sentences: Tokens) -> None:
        if not keep_project_context(active, sentences, settings):
            raise Stopped

    prepared = prepare(
        documents,
        text.dictionaries,
        match=active.report.job.match_preset,
        settings=settings,
        labels=text.labels,
        accepted=review.accepted,
        rejected=review.rejected,
        priors=request.priors if known is None else known,
        cache=context_folder(active.project),
        encode=encode,
        should_stop=active.should_stop,
    )
    keep_doubtful(active.project, prepared.doubtful)
    if known is None:
        _store_priors(active, prepared.priors)
    return prepared


def _review(active: ActiveJob, documents: tuple[Document, ...]) -> Review:
    """The decisions as they were when the job first began; later ones would undo its epochs."""
    known = active.report.known("decisions")
    if known is not None:
        return Review(*(_entities(known[name]) for name in ("accepted", "rejected")))
    review = active.project.review_effect(documents)
    active.report.fact(
        "decisions", {"accepted": _places(review.accepted), "rejected": _places(review.rejected)}
    )
    return review


_Places = Mapping[str, list[tuple[int, int, str]]]  # start, end and type, by document id


def _places(entities: Entities) -> _Places:
    return {
        id: [(entity.start, entity.end, entity.entity_type) for entity in of_document]
        for id, of_document in entities.items()
    }


def _entities(places: _Places) -> Entities:
    return {
        id: tuple(Entity(*place, method="review") for place in of_document)
        for id, of_document in places.items()
    }


def _gold_labels(
    active: ActiveJob, request: TrainRequest, text: LabeledText
) -> npt.NDArray[np.int16] | None:
    """The labels that the upper reference learns from; None when it is not asked for."""
    if not any(METHODS[method].needs_gold for method in request.methods):
        return None
    gold = active.project.gold(text.corpus)
    documents, types = text.corpus.documents, text.labels.types
    return None if gold is None else complete_labels(documents, gold.entities, types)


def _known_priors(active: ActiveJob) -> Priors | None:
    """The priors that the job has stored: estimating takes long, and checkpoints need the same."""
    known = active.report.known("all_priors")
    return None if known is None else Priors(**{**known, "values": np.array(known["values"])})


def _store_priors(active: ActiveJob, priors: Priors) -> None:
    """Store the priors, to the last bit, for a resumed job, and as rows to show."""
    active.report.fact("all_priors", {**asdict(priors), "values": priors.values.tolist()})
    rows = zip(priors.types, priors.values[1:], priors.source, priors.labeled_share, strict=True)
    active.report.fact(
        "priors",
        [
            {"entity_type": name, "value": float(value), "source": source, "labeled_share": share}
            for name, value, source, share in rows
        ],
    )


# ---- while training -------------------------------------------------------------------------


class _Listener:
    """Stores every epoch, and the histogram of the confidence as soon as it is known."""

    def __init__(
        self,
        active: ActiveJob,
        request: TrainRequest,
        data: TrainingData,
        device: str,
        part: float = 1.0,
    ) -> None:
        self._active, self._data, self._part = active, data, part
        settings, methods = settings_of(request), request.methods
        plan = {method: METHODS[method].epochs(settings, len(data.types)) for method in methods}
        self._pace = Pace(plan, side_by_side(len(methods), device))
        for method in methods:
            if has_card(run_folder(active.report.job, method)):
                self._pace.finish(method)
        self._is_drawn = False

    def __call__(self, progress: Progress) -> None:
        epoch = progress.epoch
        self._pace.hear(progress.method, progress.stage, epoch.number, epoch.seconds)
        needs_confidence = METHODS[progress.method].needs_confidence
        if progress.stage == TRAINING and needs_confidence and not self._is_drawn:
            self._is_drawn = True
            folder = run_folder(self._active.report.job, progress.method)
            draw_confidence(self._active, self._data, confidence_files(folder))
        self._active.report.epochs(
            [_row(progress.method, progress.stage, progress.epochs, asdict(epoch))],
            stage=progress.stage,
            method=progress.method,
            share=self._part * (_PREPARED + (TRAINED - _PREPARED) * self._pace.share),
            seconds_left=self._pace.seconds_left,
        )
        self._active.on_progress(progress)


def _row(method: str, stage: str, epochs: int, epoch: dict[str, Any]) -> dict[str, Any]:
    number = epoch.pop("number")
    return {"method": method, "stage": stage, "epoch": number, "epochs": epochs, **epoch}


def draw_confidence(active: ActiveJob, data: TrainingData, paths: Any) -> None:
    """Store the histogram of the confidences in the first of the files."""
    for path in paths:
        values = read_confidence(path)
        active.report.fact("confidence_histogram", confidence_bins(values, data.labels))
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


# ---- once more, with hidden phrases ---------------------------------------------------------


def _compare_hidden(
    active: ActiveJob, request: TrainRequest, text: LabeledText, prepared: Prepared, device: str
) -> bool:
    """Store what each method finds again of hidden phrases; return False when stopped.

    Decisions do not count here: an accepted place would show a phrase that is hidden.
    """
    if active.report.known("hidden_phrases") is not None:
        return True  # a resumed job that was killed at its very end
    settings, folder = settings_of(request), active.report.job.folder / _HIDDEN
    methods = [method for method in request.methods if not METHODS[method].needs_gold]
    workers = side_by_side(len(methods), device)
    types = len(prepared.data.types)
    pace = Pace({m: METHODS[m].epochs(settings, types) for m in methods}, workers)
    active.report.progress(stage="hidden", method="", share=_FIRST_OF_TWO, seconds_left=None)

    def on_progress(progress: Progress) -> None:
        epoch = progress.epoch
        pace.hear(progress.method, progress.stage, epoch.number, epoch.seconds)
        active.report.progress(
            stage="hidden",
            method=progress.method,
            share=_FIRST_OF_TWO + (1 - _FIRST_OF_TWO) * TRAINED * pace.share,
            seconds_left=pace.seconds_left,
        )
        active.on_progress(progress)

    try:
        found = compare_hidden(
            text.corpus.documents,
            text.dictionaries,
            settings,
            methods,
            folder,
            match=active.report.job.match_preset,
            labels=text.labels,
            share=request.hide,
            priors=request.priors,
            cache=context_folder(active.project),
            workers=workers,
            on_progress=on_progress,
            should_stop=active.should_stop,
        )
    except Stopped:
        return False
    except InputError as error:  # the methods are trained; only this comparison is not to be had
        active.report.fact("hidden_phrases", {"problem": str(error)})
        notes = [*prepared.notes, f"not compared on hidden phrases: {error}"]
        active.report.fact("notes", notes)
        note_all(notes[-1:])
    else:
        records = {method: result.record for method, result in found.items()}
        active.report.fact("hidden_phrases", {"found": records})
    shutil.rmtree(folder, ignore_errors=True)
    return True


def _recall_epochs(active: ActiveJob, request: TrainRequest, data: TrainingData) -> None:
    """Store epochs that a killed job missed: a checkpoint is written before its epoch is heard."""
    settings = settings_of(request)
    for method in request.methods:
        totals = METHODS[method].epochs(settings, len(data.types))
        tagger_epochs = METHODS[method].tagger_epochs(settings)
        per_tagger = {CONFIDENCE: settings.confidence_epochs, TRAINING: tagger_epochs}
        for kept in checkpoints(run_folder(active.report.job, method)):
            before = per_tagger[kept.stage] * kept.tagger  # numbers count through all taggers
            active.report.epochs(
                _row(method, kept.stage, totals[kept.stage], asdict(epoch) | {"number": before + i})
                for i, epoch in enumerate(stored_history(kept.path), start=1)
            )


def _complete_records(active: ActiveJob, request: TrainRequest, data: TrainingData) -> None:
    """Store epochs that a job killed just before its end missed: the run's card has them all."""
    for method in request.methods:
        card = read_card(run_folder(active.report.job, method))
        histories = {CONFIDENCE: card.confidence_histories, TRAINING: (card.history,)}
        for stage, taggers in histories.items():
            history = list(chain.from_iterable(taggers))
            active.report.epochs(
                _row(method, stage, len(history), {**epoch, "number": number})
                for number, epoch in enumerate(history, start=1)
            )
        if METHODS[method].needs_confidence and active.report.known("confidence_histogram") is None:
            folder = run_folder(active.report.job, method)
            draw_confidence(active, data, confidence_files(folder))


def _epoch_speeds(active: ActiveJob) -> list[Speed]:
    """The usual speed of each stage: the median, since the first epochs are slower."""
    table = epochs(active.project, active.report.job.id)
    medians = table.groupby(["method", "stage"])["tokens_per_second"].median().reset_index()
    return [Speed(*row) for row in medians.itertuples(index=False, name=None)]
