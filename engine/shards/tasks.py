"""What is done with one shard: try patterns, count spellings, label it, or predict it.

A task is sent to every worker once. It is opened there, which indexes the dictionaries or loads the
network, and then does one shard after another.
"""

import hashlib
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from engine.dictionaries import Dictionary
from engine.labels import CaseDecision, Labeler, dictionary_entities
from engine.run_folder import (
    EXPORTED_PREDICTIONS,
    PREDICTIONS,
    is_checkpoint,
    read_card,
    refuse_unasked,
    to_ask_of_run,
)
from engine.settings import MatchOptions
from engine.shards.documents import read_shard, shard_bytes
from engine.shards.figures import count_figures, label_figures, prediction_figures
from engine.shards.patterns import PatternTrial
from engine.shards.records import Record, write_record
from engine.shards.shards import Shard, ShardOptions
from engine.text import Corpus, InputError

DoShard = Callable[[Shard], Record]
_FIGURES = 2  # raise it when the figures of a labeled shard have more in them


class Task(Protocol):
    """One stage of a job."""

    @property
    def stage(self) -> str: ...

    @property
    def key(self) -> str:
        """A hash of everything that the result depends on, besides the shard."""

    @property
    def options(self) -> ShardOptions: ...

    def open(self) -> DoShard:
        """Return the function that does one shard; called once per worker."""


@dataclass(frozen=True, slots=True)
class PatternTask:
    """Find the patterns that take too long; all shards then do without them."""

    dictionaries: Sequence[Dictionary]
    match: MatchOptions
    options: ShardOptions
    stage: str = "patterns"

    @property
    def key(self) -> str:
        return _key(self.stage, _matching(self.dictionaries, self.match), _reading(self.options))

    def open(self) -> DoShard:
        """Compile the patterns."""
        trial, key = PatternTrial(self.dictionaries, self.match), self.key

        def try_patterns(shard: Shard) -> Record:
            corpus = read_shard(shard, self.options)
            return _finish(self, key, shard, None, trial.figures(corpus.documents))

        return try_patterns


@dataclass(frozen=True, slots=True)
class CountTask:
    """Count how each phrase is spelled; all shards together then decide about letter case."""

    dictionaries: Sequence[Dictionary]
    match: MatchOptions
    options: ShardOptions
    stage: str = "count"

    @property
    def key(self) -> str:
        return _key(self.stage, _matching(self.dictionaries, self.match), _reading(self.options))

    def open(self) -> DoShard:
        """Index the dictionaries."""
        labeler, key = Labeler(self.dictionaries, self.match), self.key

        def count(shard: Shard) -> Record:
            corpus = read_shard(shard, self.options)
            figures = count_figures(labeler.count_spellings(corpus.documents))
            return _finish(self, key, shard, None, figures)

        return count


@dataclass(frozen=True, slots=True)
class LabelTask:
    """Label a shard with dictionaries, in the letter case that all shards have decided."""

    dictionaries: Sequence[Dictionary]
    match: MatchOptions
    options: ShardOptions
    cases: tuple[CaseDecision, ...] | None
    stage: str = "label"

    @property
    def key(self) -> str:
        # Not the counts behind a decision: one more shard must not change the key of all others.
        decided = [(case.entity_type, case.is_free) for case in self.cases or ()]
        matching = (_matching(self.dictionaries, self.match), decided, _FIGURES)
        return _key(self.stage, matching, _reading(self.options), _writing(self.options))

    def open(self) -> DoShard:
        """Index the dictionaries."""
        labeler, key = Labeler(self.dictionaries, self.match), self.key

        def label(shard: Shard) -> Record:
            corpus = read_shard(shard, self.options)
            labels = labeler.label(corpus.documents, self.cases)
            entities = dictionary_entities(labels, corpus.documents)
            figures = label_figures(labels, corpus)
            return _finish(self, key, shard, replace(corpus, entities=entities), figures)

        return label


@dataclass(frozen=True, slots=True)
class PredictTask:
    """Find entities in a shard with a trained run, whose files come along."""

    run_id: str
    files: Mapping[str, npt.NDArray[np.uint8]]  # arrays: workers of one machine share them
    options: ShardOptions
    is_trusted: bool = False
    stage: str = "predict"

    @property
    def key(self) -> str:
        digests = [
            (name, hashlib.sha256(data.data).hexdigest()) for name, data in self.files.items()
        ]
        files = (self.run_id, sorted(digests))
        return _key(self.stage, files, _reading(self.options), _writing(self.options))

    def open(self) -> DoShard:
        """Load the network, which predicts with one thread, so that results do not differ."""
        from engine.network import set_threads
        from engine.runs import CutTokens, load_run, predict_stream

        set_threads(1)
        key, folder = self.key, Path(tempfile.mkdtemp(prefix="glossa-run-"))
        for name, data in self.files.items():
            path = folder / self.run_id / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data.tobytes())
        trained = load_run(folder / self.run_id, is_trusted=self.is_trusted)  # and its encoder
        if Path(trained.settings.word_vectors).name in self.files:
            # Words are looked up in the file as long as the worker lives.
            weakref.finalize(trained.pretrained, shutil.rmtree, folder, ignore_errors=True)
        else:
            shutil.rmtree(folder)

        def predict(shard: Shard) -> Record:
            corpus = read_shard(shard, self.options)
            cut = CutTokens(trained)
            pairs = predict_stream(trained, corpus.documents, self.run_id, cut)
            entities = {document.id: found for document, found in pairs}
            result = replace(corpus, entities=entities)
            return _finish(self, key, shard, result, prediction_figures(result), cut.notes)

        return predict


def pack_run(folder: Path, options: ShardOptions, *, is_trusted: bool = False) -> PredictTask:
    """Return the task that predicts with the run in a folder; its files are read now."""
    settings = read_card(folder).settings
    if not is_trusted:
        refuse_unasked(to_ask_of_run(folder))
    paths = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.name not in (PREDICTIONS, EXPORTED_PREDICTIONS)
        and not is_checkpoint(path)
    ]
    files = {path.relative_to(folder).as_posix(): path for path in paths}
    if Path(settings.word_vectors).is_file():  # beside the run they are found on any machine
        files.setdefault(Path(settings.word_vectors).name, Path(settings.word_vectors))
    try:
        packed = {name: np.fromfile(path, np.uint8) for name, path in files.items()}
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror or error}") from error
    return PredictTask(folder.name, packed, options, is_trusted)


def _finish(
    task: Task,
    key: str,  # that of the task, which takes long to compute
    shard: Shard,
    result: Corpus | None,
    figures: Mapping[str, Any],
    notes: Sequence[str] = (),
) -> Record:
    """Write the result of a shard, then its record; a kill in between loses the record only."""
    store, output, size = task.options.store, "", 0
    if result is not None:
        data, rows, changes = shard_bytes(result, task.options)
        store.write(shard.output, data)
        output, size = shard.output, len(data)
        figures = {**figures, "rows": rows}
        written = (f"{shard.output}: {note}" for note in changes)
        notes = [*result.notes, *notes, *written]
    record = Record(shard.name, shard.size, shard.version, key, output, size, figures, tuple(notes))
    write_record(store, task.stage, shard, record)
    return record


def _key(*parts: object) -> str:
    return hashlib.sha256(ascii((_version(), *parts)).encode()).hexdigest()[:16]


def _version() -> str:
    try:
        return version("glossa")
    except PackageNotFoundError:  # run from a checkout
        return ""


def _matching(dictionaries: Sequence[Dictionary], match: MatchOptions) -> object:
    return [(d.name, d.fingerprint) for d in dictionaries], match


def _reading(options: ShardOptions) -> object:
    return options.read


def _writing(options: ShardOptions) -> object:
    return options.format, options.write
