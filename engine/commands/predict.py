"""`predict`: a run finds entities in new texts, a few documents at a time."""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from engine import console
from engine.commands.terminal import (
    note_all,
    read_options,
    tell_files,
    tell_written,
    write_options,
)
from engine.experiment import Run, predict_documents
from engine.formats.contract import Overview, Pairs
from engine.formats.writing import writable_format, write_documents
from engine.pretrained import count_cut_tokens, cut_notes
from engine.runs import load_run
from engine.streaming import DocumentStream, open_stream
from engine.text import Document, Entity, InputError
from engine.training_data import tokens_of

_TOKENS_AT_ONCE = 200_000


def predict_command(options: argparse.Namespace) -> None:
    """Find entities in texts with a trained run and write them; neither is ever held whole."""
    writable_format(options.out, options.format)
    folder = Path(options.run_folder)
    trained = load_run(folder)
    stream = _open_texts(options)
    told = stream.notes
    cut = CutTokens(trained)
    with console.Progress("Predicting", len(stream), "documents") as progress:
        found = _advancing(predicted(trained, stream, folder.name, cut), progress)
        pairs, kinds = _begun(found, stream)
        ids = stream.ids() if stream.has_odd_ids else None
        report = write_documents(
            _with_words(pairs, stream, options),
            options.out,
            Overview(kinds, ids=ids),
            options.format,
            write_options(options),
        )
    note_all(note for note in stream.notes if note not in told)
    note_all(cut.notes)
    tell_written(report, options)


def _open_texts(options: argparse.Namespace) -> DocumentStream:
    stream = open_stream(options.text, read_options(options))
    tell_files(stream.files)
    note_all(stream.notes)
    if not len(stream):
        names = ", ".join(options.text)
        raise InputError(f"{names} holds entities but not the texts they are in; give those too")
    return stream


class CutTokens:
    """Counts the tokens that a run's encoder reads in part, some documents at a time."""

    def __init__(self, trained: Run) -> None:
        self._trained, self._count = trained, 0

    def add(self, documents: Sequence[Document]) -> None:
        """Look at more documents."""
        trained = self._trained
        self._count += count_cut_tokens(tokens_of(documents), trained.settings, trained.pretrained)

    @property
    def notes(self) -> list[str]:
        return cut_notes(self._count)


def predicted(
    trained: Run, documents: Iterable[Document], run_id: str, cut: CutTokens
) -> Iterator[tuple[Document, tuple[Entity, ...]]]:
    """Yield the documents with what the run finds in them."""
    for group in groups(documents):
        cut.add(group)
        entities = predict_documents(trained, group, run_id)
        for document in group:
            yield document, entities[document.id]


def groups(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yield documents a few at a time, so that features of a large corpus never stand together."""
    group: list[Document] = []
    tokens = 0
    for document in documents:
        group.append(document)
        tokens += sum(len(sentence.tokens) for sentence in document.sentences)
        if tokens >= _TOKENS_AT_ONCE:
            yield group
            group, tokens = [], 0
    if group:
        yield group


def _begun(
    found: Iterator[tuple[Document, tuple[Entity, ...]]], stream: DocumentStream
) -> tuple[Pairs, frozenset[tuple[str, str, str]]]:
    """The documents with their entities, and what kinds of entities those will be.

    The first entity tells, as all are of one run. How some files begin depends on whether there
    is any; the documents before it, mostly none, are read again.
    """
    passed = 0
    for document, entities in found:
        if entities:
            kinds = frozenset((e.method, e.run_id, e.entity_type) for e in entities)
            return chain(_empty(stream, passed), [(document, entities)], found), kinds
        passed += 1
    return _empty(stream, passed), frozenset()


def _empty(stream: DocumentStream, count: int) -> Pairs:
    return ((document, ()) for document in islice(stream, count))


def _advancing(
    found: Iterator[tuple[Document, tuple[Entity, ...]]], progress: console.Progress
) -> Iterator[tuple[Document, tuple[Entity, ...]]]:
    for pair in found:
        yield pair
        progress.advance(1)


def _with_words(pairs: Pairs, stream: DocumentStream, options: argparse.Namespace) -> Pairs:
    yield from pairs
    if not stream.has_words:
        raise InputError(f"{', '.join(options.text)} holds no words to label")
