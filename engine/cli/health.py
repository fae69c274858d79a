"""`health`: list the phrases that likely match wrongly, and mend the dictionaries of a project."""

import argparse

import pandas as pd

from engine.cli import console
from engine.cli.inputs import match_preset, project_of, read_given_dictionaries, read_texts
from engine.cli.terminal import MOST_ROWS, heading, say, say_more
from engine.labels import ADD, Health, HealthEntry, check_health, label
from engine.projects import health_of, mend_dictionaries
from engine.text import InputError, Sentence

_COLUMNS = {
    "phrase": "phrases",
    "entity_type": "type",
    "kind": "what",
    "matches": "matches",
    "wrong": "est. wrong",
    "proposal": "proposal",
    "example": "example",
}
_AROUND = 30  # characters of context on either side


def health_command(options: argparse.Namespace) -> None:
    """Print what hurts most in the dictionaries; with --accept, mend those of a project."""
    project = project_of(options)
    if options.accept and project is None:
        raise InputError("--accept changes the dictionaries of a project; name it with --project")
    if options.accept and options.mute:
        raise InputError("--accept saves every proposal; leave out --mute")
    corpus = read_texts(options)
    dictionaries = read_given_dictionaries(options)
    sentences = list(corpus.sentences)
    with console.ProgressBar("Matching", len(sentences), "sentences") as progress:
        labels = label(
            corpus.documents,
            dictionaries,
            match_preset(options),
            workers=options.workers,
            on_progress=progress.advance,
        )
    if project:
        health = health_of(project, dictionaries, labels, sentences)
    else:
        health = check_health(dictionaries, labels, sentences)
    heading("Dictionary health")
    say(f"{health}." if str(health) else "No phrase looks wrong.")
    _say_entries(health, sentences)
    if options.accept and project and health.proposed:
        version = mend_dictionaries(project, health.proposed)
        say(f"\nAccepted every proposal. The dictionaries are at version {version}.")


def _say_entries(health: Health, sentences: list[Sentence]) -> None:
    if not health.entries:
        return
    rows = [
        (
            entry.name,
            entry.entity_type,
            entry.kind,
            entry.match_count,
            round(entry.wrong, 1),
            entry.proposal,
            _example(entry, sentences),
        )
        for entry in health.entries[:MOST_ROWS]
    ]
    say("\n" + console.table(pd.DataFrame(rows, columns=list(_COLUMNS)), _COLUMNS))
    say_more(len(health.entries))
    if any(entry.proposal == ADD for entry in health.proposed):
        say('"add" adds names in the order of the text that the dictionaries have inverted.')


def _example(entry: HealthEntry, sentences: list[Sentence]) -> str:
    if not entry.examples:
        return ""
    i, start, end = entry.examples[0]
    sentence = sentences[i]
    first = sentence.starts[start]
    last = sentence.starts[end - 1] + len(sentence.tokens[end - 1])
    before, after = sentence.text[:first][-_AROUND:], sentence.text[last:][:_AROUND]
    return " ".join(f"{before}[{sentence.text[first:last]}]{after}".split())
