"""`import`: add files to a project."""

import argparse
from collections.abc import Sequence

from engine.cli.inputs import named_project
from engine.cli.terminal import limits_of, note_all, read_options, say
from engine.dictionaries import dictionary_paths
from engine.files import GivenFile, open_source
from engine.projects import (
    IMPORT_LIMITS,
    Project,
    create_project,
    delete_project,
    import_project_zip,
)
from engine.text import InputError


def import_command(options: argparse.Namespace) -> None:
    """Add files to a project; if one is bad, a project created for them is deleted again."""
    if options.zip:
        project = import_project_zip(options.zip)
        say(f'Project {project.id} ("{project.name}") was made from {options.zip}.')
        return
    limits = limits_of(options, IMPORT_LIMITS)
    paths, notes = dictionary_paths(options.dictionary, limits)
    never_paths, never_notes = dictionary_paths(options.never, limits)
    texts, dictionaries, never, gold = (
        [open_source(path, limits) for path in given]
        for given in (options.text, paths, never_paths, options.gold)
    )
    note_all((*notes, *never_notes))
    if not (texts or dictionaries or never or gold) and not options.create:
        raise InputError("nothing to import: give --text, --dictionary, --never or --gold")
    project = create_project(options.create) if options.create else named_project(options.project)
    try:
        _add(project, options, texts, dictionaries, never, gold)
    except BaseException:
        if options.create:
            delete_project(project.id)
        raise
    say(f'{_figures(project)} in project {project.id} ("{project.name}").')


def _add(
    project: Project,
    options: argparse.Namespace,
    texts: Sequence[GivenFile],
    dictionaries: Sequence[GivenFile],
    never: Sequence[GivenFile],
    gold: Sequence[GivenFile],
) -> None:
    reading = read_options(options)
    if texts:
        note_all(project.add_text(texts, reading))
    if dictionaries:
        note_all(project.add_dictionaries(dictionaries, reading, options.type))
    if never:
        note_all(project.add_dictionaries(never, reading, is_never=True))
    if gold:
        note_all(project.set_gold(gold, reading))


def _figures(project: Project) -> str:
    files = project.text_files()
    phrases = sum(len(dictionary.phrases) for dictionary in project.dictionaries())
    return (
        f"{sum(file.documents for file in files):,} documents, "
        f"{sum(file.tokens for file in files):,} tokens and {phrases:,} phrases"
    )
