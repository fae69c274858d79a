"""Train methods once more with some phrases hidden, and count the words that they find again.

They are also counted after each epoch, in the beginning of the text, to suggest how many epochs to
train for. This does not change what is trained.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

import numpy as np
import numpy.typing as npt
from torch import nn

from engine.dictionaries import Dictionary
from engine.experiment import find_hidden, prepare_hidden
from engine.labels import DistantLabels
from engine.learning import (
    OnProgress,
    Progress,
    fit,
    make_inputs,
    make_tagger,
    predict_inputs,
    schedule,
)
from engine.network import (
    EncodedInputs,
    Stopped,
    WordInputs,
    choose_device,
    open_features,
    open_pretrained,
)
from engine.planning import METHODS, TRAINING
from engine.run_folder import write_json
from engine.runs.comparison import Task, compare, features_folder
from engine.runs.saved import load_run
from engine.scoring import HIDDEN_SHARE, FoundAgain, Hidden, find_again, suggested_epochs
from engine.settings import Settings
from engine.text import Document, InputError

_EPOCHS = "hidden_epochs.json"  # beside the run: what was found again after each epoch
_MOST_TOKENS = 100_000  # of the text that is looked at after each epoch


def compare_hidden(
    documents: Sequence[Document],
    dictionaries: Sequence[Dictionary],
    settings: Settings,
    methods: Sequence[str],
    folder: Path,
    *,
    match: str,
    labels: DistantLabels | None = None,
    share: float = HIDDEN_SHARE,
    priors: Mapping[str, float] | None = None,
    cache: Path | None = None,
    workers: int = 1,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> dict[str, FoundAgain]:
    """Return what each method finds again of phrases that are hidden from it, by method.

    The runs stay in `folder`; a second call trains nothing. Methods that learn from gold are left
    out. Raises Stopped if `should_stop` says so, and InputError if too few phrases match.
    """
    methods = [method for method in methods if not METHODS[method].needs_gold]
    if not methods:
        raise InputError("no method is chosen that learns from dictionaries alone")
    cache = cache or features_folder(folder)
    task = prepare_hidden(
        documents,
        dictionaries,
        match=match,
        settings=settings,
        labels=labels,
        share=share,
        priors=priors,
        cache=cache,
        should_stop=should_stop,
    )
    folders = compare(
        task.prepared.data,
        task.prepared.priors.values,
        settings,
        methods,
        folder,
        dictionaries=task.hidden.dictionaries,
        watch=_EpochWatch(task.hidden.phrases, task.words, task.rate),
        workers=workers,
        on_progress=on_progress,
        should_stop=should_stop,
    )
    if should_stop and should_stop():
        raise Stopped
    found = {}
    for method, path in folders.items():
        trained = load_run(path)
        result = find_hidden(trained, documents, task, cache=cache, should_stop=should_stop)
        found[method] = _with_epochs(result, path, trained.settings.epochs)
    return found


# ---- after each epoch -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _EpochWatch:
    """Makes who counts the hidden words of a task; sent to the process that trains it."""

    phrases: tuple[tuple[str, str], ...]
    words: npt.NDArray[np.int32]
    rate: float

    def __call__(self, task: Task, checkpoint: Path) -> OnProgress:
        return _EpochCounts(self, task, checkpoint)


class _EpochCounts:
    """Counts the words found again after each epoch of a run's first tagger.

    Not for a method with one tagger per type, or with another number of epochs than the settings
    say; nor for a transformer that is fine-tuned: a second one would take too much memory.
    """

    def __init__(self, watch: _EpochWatch, task: Task, checkpoint: Path) -> None:
        self._watch, self._task, self._checkpoint = watch, task, checkpoint
        self._settings = replace(task.settings, ensemble=1)
        method = METHODS[self._settings.method]
        self._epochs = schedule(self._settings).epochs
        self._is_counting = (
            not method.has_tagger_per_type
            and self._epochs == self._settings.epochs
            and self._settings.encoder != "transformer"
        )
        self._seen: tuple[WordInputs | EncodedInputs, nn.Module] | None = None

    def __call__(self, progress: Progress) -> None:
        number = progress.epoch.number
        if progress.stage != TRAINING or number > self._epochs or not self._is_counting:
            return
        if self._seen is None:
            self._seen = self._prepare()
        inputs, tagger = self._seen
        # `fit` with a schedule that the checkpoint has finished restores it and trains nothing.
        done = replace(schedule(self._settings), epochs=number)
        fit(tagger, inputs, _trains_nothing, done, checkpoint=self._checkpoint)
        probs = predict_inputs([tagger], inputs, self._settings)
        watch, count = self._watch, len(probs)
        result = find_again(
            Hidden(watch.phrases, ()),
            watch.words[:count],
            self._task.data.labels[:count],
            1 - probs[:, 0],
            watch.rate,
        )
        path = self._task.folder / _EPOCHS
        records = _stored_epochs(path)[: number - 1]  # a resumed epoch is counted once
        write_json(path, [*(earlier.record for earlier in records), result.record])

    def _prepare(self) -> tuple[WordInputs | EncodedInputs, nn.Module]:
        """Return what the network sees of the beginning of the text, and a tagger to restore."""
        data = self._task.data
        ends = np.cumsum([len(tokens) for tokens in data.sentences])
        count = max(1, int(np.searchsorted(ends, _MOST_TOKENS, "right")))
        context = open_features(data.context)[: ends[count - 1]] if data.context else None
        part = replace(data, sentences=data.sentences[:count], context=None, cache=None)
        device, pretrained = choose_device(), open_pretrained(self._settings)
        inputs = make_inputs(part, self._settings, device, pretrained, context)
        outputs = METHODS[self._settings.method].outputs(len(data.types))
        tagger = make_tagger(inputs, outputs, self._settings, self._settings.seed, device)
        return inputs, tagger


def _trains_nothing(*_: object) -> NoReturn:
    raise AssertionError("the checkpoint does not hold the epoch that was reported")


def _with_epochs(result: FoundAgain, folder: Path, epochs: int) -> FoundAgain:
    """Return the result with what was found after each epoch, if that was counted for all."""
    after = _stored_epochs(folder / _EPOCHS)
    if len(after) != epochs:
        return result
    counts = tuple(sum(epoch.found) for epoch in after)
    return replace(result, after_epochs=counts, epochs=suggested_epochs(after))


def _stored_epochs(path: Path) -> list[FoundAgain]:
    try:
        records = json.loads(path.read_bytes())
    except FileNotFoundError:
        return []
    return [result for record in records if (result := FoundAgain.of_record(record))]
