"""`label`: texts and dictionaries become distant labels, with an honest view of them."""

import argparse
from collections.abc import Mapping
from dataclasses import replace

from engine import console
from engine.alignment import align, gold_of
from engine.checking import kept_matches
from engine.commands.label_tables import (
    say_conflicts,
    say_coverage,
    say_missing,
    say_precision,
)
from engine.commands.sample import check_verdicts, read_checked, write_sample
from engine.commands.terminal import note_all, read_files, read_options, write_file
from engine.coverage import Coverage, measure_coverage
from engine.dictionary import Dictionary, mute
from engine.dictionary_files import read_dictionaries
from engine.distant import dictionary_entities, label
from engine.files import read_source
from engine.formats.writing import writable_format
from engine.text import Corpus, Entity, InputError


def label_command(options: argparse.Namespace) -> None:
    """Label texts with dictionaries; print coverage and precision; write the entities."""
    if options.out:
        writable_format(options.out, options.format)  # before the work, not after it
    corpus = _read_texts(options)
    dictionaries = _read_dictionaries(options)
    gold = _gold(options, corpus)
    checked = read_checked(options.checked) if options.checked else {}
    sentences = list(corpus.sentences)
    with console.Progress("Matching", len(sentences), "sentences") as progress:
        labels = label(
            corpus.documents,
            dictionaries,
            options.match,
            workers=options.workers,
            on_progress=progress.advance,
        )
    figures = measure_coverage(labels)
    if not figures.matches:
        raise InputError(_nothing_matches(figures, options.match))
    if checked:
        check_verdicts(options.checked, checked, kept_matches(labels, sentences))
    say_coverage(labels, figures)
    say_conflicts(labels, sentences)
    say_precision(labels, corpus.documents, sentences, gold, checked)
    say_missing(labels, sentences)
    if options.sample:
        write_sample(options, labels, sentences)
    if options.out:
        entities = dictionary_entities(labels, corpus.documents)
        write_file(replace(corpus, entities=_with_gold(entities, gold, options)), options)


def _read_texts(options: argparse.Namespace) -> Corpus:
    corpus = read_files(options.text, options)
    names = ", ".join(options.text)
    if not corpus.documents:
        raise InputError(f"{names} holds entities but not the texts they are in; give those too")
    if not any(document.sentences for document in corpus.documents):
        raise InputError(f"{names} holds no words to label")
    return corpus


def _nothing_matches(figures: Coverage, preset: str) -> str:
    freer = {"strict": "balanced", "balanced": "loose"}.get(preset)
    advice = f"Try --match {freer}, or check" if freer else "Check"
    return (
        f"no dictionary matches anything in this text (0 of {figures.phrases:,} phrases in "
        f"{figures.sentences:,} sentences). {advice} that both are in the same language. "
        "Nothing was written"
    )


def _with_gold(
    entities: Mapping[str, tuple[Entity, ...]],
    gold: Mapping[str, tuple[Entity, ...]] | None,
    options: argparse.Namespace,
) -> Mapping[str, tuple[Entity, ...]]:
    """The benchmark and token formats have a column for gold beside the dictionary's labels."""
    if gold is None or writable_format(options.out, options.format).name not in (
        "benchmark",
        "tokens",
    ):
        return entities
    return {
        id: (*of, *(replace(e, method="gold") for e in gold.get(id, ())))
        for id, of in entities.items()
    }


def _read_dictionaries(options: argparse.Namespace) -> list[Dictionary]:
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


def _gold(options: argparse.Namespace, corpus: Corpus) -> Mapping[str, tuple[Entity, ...]] | None:
    """Gold from its own file, else what the text files carry, else none."""
    if options.gold:
        aligned = align(corpus.documents, gold_of(read_files([options.gold], options)))
        note_all(f"{options.gold}: {note}" for note in aligned.notes)
        return aligned.entities
    return gold_of(corpus).entities or None
