"""`predict`: a run finds entities in new texts, a few documents at a time."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from engine import console
from engine.commands.inputs import read_texts
from engine.commands.terminal import write_file
from engine.experiment import predict_documents
from engine.formats.writing import writable_format
from engine.runs import load_run
from engine.text import Document, Entity

_TOKENS_AT_ONCE = 200_000


def predict_command(options: argparse.Namespace) -> None:
    """Find entities in texts with a trained run and write them."""
    writable_format(options.out, options.format)
    trained = load_run(Path(options.run_folder))
    corpus = read_texts(options)
    entities: dict[str, tuple[Entity, ...]] = {}
    with console.Progress("Predicting", len(corpus.documents), "documents") as progress:
        for group in groups(corpus.documents):
            entities |= predict_documents(trained, group, Path(options.run_folder).name)
            progress.advance(len(group))
    write_file(replace(corpus, entities=entities), options)


def groups(documents: Sequence[Document]) -> Iterator[list[Document]]:
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
