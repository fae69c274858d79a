"""Read the texts, dictionaries and gold that a command names, from files or from a project."""

import argparse
from collections.abc import Mapping, Sequence

from engine.cli.terminal import limits_of, note_all, read_files, read_options
from engine.dictionaries import (
    NEVER,
    Dictionary,
    as_never,
    dictionary_paths,
    mute_texts,
    read_dictionaries,
    with_own_names,
)
from engine.files import read_source
from engine.formats import align, gold_of, read_corpus
from engine.labels import is_short_form
from engine.projects import SAMPLE_ID, Project, open_project, sample_project, sweep_leftovers
from engine.settings import DEFAULT_MATCH_PRESET, ENGLISH, LANGUAGES, MATCH_PRESETS
from engine.text import Corpus, Entity, InputError, detect_language, use_language, words


def named_project(id: str) -> Project:
    """Return the project with this id; the sample project is created on first use.

    What killed processes left half written in it is deleted.
    """
    project = sample_project() if id == SAMPLE_ID else open_project(id)
    sweep_leftovers(project)
    return project


def project_of(options: argparse.Namespace) -> Project | None:
    """Return the project that the command names, or None if it names files. One is required."""
    if options.project is None:
        if not options.text or not options.dictionary:
            raise InputError("name text files and their --dictionary, or a --project")
        return None
    for name in ("text", "dictionary", "gold", "type", "mute", "never"):
        if getattr(options, name):
            raise InputError(
                f"--project brings its own texts, dictionaries and gold; leave out "
                f"{'TEXT' if name == 'text' else f'--{name}'}, or add it with: glossa "
                "import"
            )
    return named_project(options.project)


def match_preset(options: argparse.Namespace) -> str:
    """Return how freely phrases match: as the command says, else as the project does."""
    if options.match:
        return str(options.match)
    project = project_of(options)
    return project.match_preset() if project else DEFAULT_MATCH_PRESET


def read_texts(options: argparse.Namespace) -> Corpus:
    """Return the texts that the command names; at least one of them has words."""
    project = named_project(options.project) if getattr(options, "project", None) else None
    corpus = project.corpus() if project else _in_its_language(options)
    use_language(project.language() if project else options.language)
    names = f"project {project.id}" if project else ", ".join(options.text)
    if project and not corpus.documents:
        raise InputError(f"{names} has no text yet; add some with: glossa import")
    if not corpus.documents:
        raise InputError(f"{names} holds entities but not the texts they are in; give those too")
    if not any(document.sentences for document in corpus.documents):
        raise InputError(f"{names} holds no words to label")
    return corpus


def _in_its_language(options: argparse.Namespace) -> Corpus:
    """Return the texts of files; if they are not English, with sentences as in their language."""
    corpus = read_files(options.text, options)
    if options.language is None:
        detected = detect_language(document.text for document in corpus.documents)
        if detected != ENGLISH:
            options.language = detected
            name = LANGUAGES[detected]
            note_all([f"the text looks {name}: sentences and stop words follow it (--language)"])
            sources = [read_source(path, limits_of(options)) for path in options.text]
            corpus = read_corpus(sources, read_options(options))
    return corpus


def read_given_dictionaries(options: argparse.Namespace) -> list[Dictionary]:
    """Return the dictionaries that the command names, without the phrases of --mute."""
    if project := project_of(options):
        dictionaries = project.dictionaries()
        if not dictionaries:
            raise InputError(
                f"project {project.id} has no dictionaries yet; add some with: glossa import"
            )
        return dictionaries
    dictionaries = _read_dictionaries(options.dictionary, options, options.type)
    never = as_never(_read_dictionaries(options.never, options, NEVER))
    dictionaries = with_own_names([*dictionaries, *never])
    finds_short_forms = MATCH_PRESETS[match_preset(options)].is_adaptive
    try:
        dictionaries = mute_texts(
            dictionaries,
            options.mute,
            lambda text: finds_short_forms and is_short_form(words(text)),
        )
    except InputError as error:
        raise InputError(f"--mute: {error}") from error
    for dictionary in dictionaries:
        note_all(f"{dictionary.name}: {note}" for note in dictionary.notes)
    return dictionaries


def _read_dictionaries(
    paths: Sequence[str], options: argparse.Namespace, entity_type: str | None
) -> list[Dictionary]:
    files, notes = dictionary_paths(paths, limits_of(options))
    note_all(notes)
    sources = [read_source(path, limits_of(options)) for path in files]
    return read_dictionaries(sources, read_options(options), entity_type)


def read_gold(
    options: argparse.Namespace, corpus: Corpus
) -> Mapping[str, tuple[Entity, ...]] | None:
    """Return gold from the file of --gold, else from the text files, else None."""
    if project := project_of(options):
        gold = project.gold(corpus)
        note_all(gold.notes if gold else ())
        return gold.entities if gold else None
    if options.gold:
        aligned = align(corpus.documents, gold_of(read_files([options.gold], options)))
        note_all(f"{options.gold}: {note}" for note in aligned.notes)
        return aligned.entities
    return gold_of(corpus).entities or None
