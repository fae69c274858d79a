"""`health`: list the phrases that likely match wrongly, and mend the dictionaries of a project."""

import argparse

import pandas as pd

from engine.cli import console
from engine.cli.inputs import match_preset, project_of, read_given_dictionaries, read_texts
from engine.cli.terminal import MOST_ROWS, heading, say, say_more
from engine.health import ADD, MUTE, Health, HealthEntry, check_health
from engine.labels import label
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
    if options.mute_kind and project is None:
        raise InputError(
            "--mute-kind changes the dictionaries of a project; name it with --project"
        )
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
    _say_kinds(health)
    kinds = _named_kinds(health, options.mute_kind)
    if options.accept and project and health.proposed:
        version = mend_dictionaries(project, health.proposed)
        say(f"\nAccepted every proposal. The dictionaries are at version {version}.")
    if kinds and project:
        version = mend_dictionaries(project, kinds, MUTE)
        names = " and ".join(entry.name for entry in kinds)
        say(f"\nMuted {names}. The dictionaries are at version {version}.")


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


def _say_kinds(health: Health) -> None:
    if not health.kinds:
        return
    heading("Kinds of names")
    say("Is there one that you do not look for? Nothing is proposed; --mute-kind mutes one.")
    rows = [
        (_id_of_kind(entry), entry.entity_type, entry.match_count, entry.reason)
        for entry in health.kinds[:MOST_ROWS]
    ]
    columns = {"kind": "kind", "type": "type", "matches": "matches", "what": "what"}
    say("\n" + console.table(pd.DataFrame(rows, columns=list(columns)), columns))
    say_more(len(health.kinds))


def _named_kinds(health: Health, wanted: list[str]) -> list[HealthEntry]:
    """Return the kinds of these words or places; raises InputError for one that is not listed."""
    kinds = []
    for name in wanted:
        same = [entry for entry in health.kinds if _id_of_kind(entry).casefold() == name.casefold()]
        if not same:
            listed = ", ".join(_id_of_kind(entry) for entry in health.kinds[:5]) or "none"
            raise InputError(f'there is no kind of names "{name}" here; listed are: {listed}')
        kinds += same
    return kinds


def _id_of_kind(entry: HealthEntry) -> str:
    return (entry.group.word or entry.group.branch) if entry.group else ""


def _example(entry: HealthEntry, sentences: list[Sentence]) -> str:
    if not entry.examples:
        return ""
    i, start, end = entry.examples[0]
    sentence = sentences[i]
    first = sentence.starts[start]
    last = sentence.starts[end - 1] + len(sentence.tokens[end - 1])
    before, after = sentence.text[:first][-_AROUND:], sentence.text[last:][:_AROUND]
    return " ".join(f"{before}[{sentence.text[first:last]}]{after}".split())
