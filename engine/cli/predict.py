"""`predict`: find entities in new texts with a trained run, a few documents at a time."""

import argparse
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from engine.cli import console
from engine.cli.terminal import (
    limits_of,
    note_all,
    read_options,
    tell_files,
    tell_written,
    typed_command,
    write_options,
)
from engine.formats import (
    DocumentStream,
    Overview,
    Pairs,
    open_stream,
    writable_format,
    write_documents,
)
from engine.run_folder import file_names, new_card, read_card, run_facts
from engine.runs import CutTokens, load_run, predict_stream
from engine.text import Document, Entity, InputError


def predict_command(options: argparse.Namespace) -> None:
    """Find entities in texts with a trained run and write them, without holding either whole."""
    writable_format(options.out, options.format)
    folder = Path(options.run_folder)
    trained = load_run(folder, is_trusted=options.trust)
    stream = _open_texts(options)
    told = stream.notes
    cut = CutTokens(trained)
    with console.ProgressBar("Predicting", len(stream), "documents") as progress:
        found = predict_stream(trained, stream, folder.name, cut, workers=options.workers)
        predicted = _advancing(found, progress)
        pairs, kinds = _begun(predicted, stream)
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
    card = new_card(
        "what a trained method found",
        command=typed_command(options),
        text={"files": file_names(stream.files), "documents": len(stream)},
        run=run_facts(read_card(folder), folder.name),
    )
    tell_written(report, options, card)


def _open_texts(options: argparse.Namespace) -> DocumentStream:
    stream = open_stream(options.text, read_options(options), limits_of(options))
    tell_files(stream.files)
    note_all(stream.notes)
    if not len(stream):
        names = ", ".join(options.text)
        raise InputError(f"{names} holds entities but not the texts they are in; give those too")
    return stream


def _begun(
    predicted: Iterator[tuple[Document, tuple[Entity, ...]]], stream: DocumentStream
) -> tuple[Pairs, frozenset[tuple[str, str, str]]]:
    """Return the documents with their entities, and what kinds of entities there will be.

    How some files begin depends on whether there is any entity, and of which kind. All are of one
    run, so the first entity tells. The documents before it, usually none, are read again.
    """
    passed = 0
    for document, entities in predicted:
        if entities:
            kinds = frozenset((e.method, e.run_id, e.entity_type) for e in entities)
            return chain(_empty(stream, passed), [(document, entities)], predicted), kinds
        passed += 1
    return _empty(stream, passed), frozenset()


def _empty(stream: DocumentStream, count: int) -> Pairs:
    return ((document, ()) for document in islice(stream, count))


def _advancing(
    predicted: Iterator[tuple[Document, tuple[Entity, ...]]], progress: console.ProgressBar
) -> Iterator[tuple[Document, tuple[Entity, ...]]]:
    for pair in predicted:
        yield pair
        progress.advance(1)


def _with_words(pairs: Pairs, stream: DocumentStream, options: argparse.Namespace) -> Pairs:
    yield from pairs
    if not stream.has_words:
        raise InputError(f"{', '.join(options.text)} holds no words to label")
