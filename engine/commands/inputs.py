"""What the commands that label have in common: texts, dictionaries and gold."""

import argparse
from collections.abc import Mapping

from engine.alignment import align, gold_of
from engine.commands.terminal import note_all, read_files, read_options
from engine.dictionary import Dictionary, mute
from engine.dictionary_files import read_dictionaries
from engine.files import read_source
from engine.text import Corpus, Entity, InputError


def read_texts(options: argparse.Namespace) -> Corpus:
    """Return the texts of the command line, of which at least one has words."""
    corpus = read_files(options.text, options)
    names = ", ".join(options.text)
    if not corpus.documents:
        raise InputError(f"{names} holds entities but not the texts they are in; give those too")
    if not any(document.sentences for document in corpus.documents):
        raise InputError(f"{names} holds no words to label")
    return corpus


def read_given_dictionaries(options: argparse.Namespace) -> list[Dictionary]:
    """Return the dictionaries of the command line, muted phrases muted."""
    files = [read_source(path) for path in options.dictionary]
    dictionaries = read_dictionaries(files, read_options(options), options.type)
    muted = {phrase.casefold() for phrase in options.mute}
    dictionaries = [
        mute(
            dictionary,
            ((p.text, p.entity_type) for p in dictionary.phrases if p.text.casefold() in muted),
        )
        for dictionary in dictionaries
    ]
    known = {phrase.casefold() for dictionary in dictionaries for phrase, _ in dictionary.muted}
    for phrase in options.mute:
        if phrase.casefold() not in known:
            raise InputError(f'--mute: "{phrase}" is in none of the dictionaries')
    for dictionary in dictionaries:
        note_all(f"{dictionary.name}: {note}" for note in dictionary.notes)
    return dictionaries


def read_gold(
    options: argparse.Namespace, corpus: Corpus
) -> Mapping[str, tuple[Entity, ...]] | None:
    """Gold from its own file, else what the text files carry, else none."""
    if options.gold:
        aligned = align(corpus.documents, gold_of(read_files([options.gold], options)))
        note_all(f"{options.gold}: {note}" for note in aligned.notes)
        return aligned.entities
    return gold_of(corpus).entities or None
