"""`opinion`: what another system or a person found, kept beside what the methods find."""

import argparse

import pandas as pd

from engine.cli import console
from engine.cli.inputs import named_project
from engine.cli.terminal import limits_of, note_all, read_options, say
from engine.files import open_source
from engine.projects import IMPORT_LIMITS


def add_opinion_command(options: argparse.Namespace) -> None:
    """Add the entities of files to a project as an opinion."""
    files = [open_source(path, limits_of(options, IMPORT_LIMITS)) for path in options.file]
    project = named_project(options.project)
    reading = read_options(options)
    note_all(project.add_opinion(options.name, files, reading, options.source_format))
    name = " ".join(options.name.split())
    opinion = next(opinion for opinion in project.opinions() if opinion.name == name)
    say(
        f"{opinion.entities:,} entities in {opinion.documents:,} documents are the opinion "
        f'"{name}" in project {project.id}. See Compare and Review.'
    )


def list_opinions_command(options: argparse.Namespace) -> None:
    """Print the opinions of a project."""
    listed = named_project(options.project).opinions()
    if not listed:
        say("No opinions yet; add one with: glossa opinion add")
        return
    rows = [
        (o.name, o.documents, o.entities, ", ".join(o.files), f"{o.added_at:%Y-%m-%d}")
        for o in listed
    ]
    columns = ("name", "documents", "entities", "files", "added")
    table = pd.DataFrame(rows, columns=list(columns))
    say(console.table(table, {name: name for name in columns}))


def label_with_opinion_command(options: argparse.Namespace) -> None:
    """Add an opinion to the dictionaries of a project, as a source of labels."""
    project = named_project(options.project)
    version = project.label_with_opinion(options.name, options.priority)
    say(
        f'The opinion "{options.name}" labels the text of project {project.id} from now on; its '
        f"dictionaries are at version {version}."
    )


def remove_opinion_command(options: argparse.Namespace) -> None:
    """Remove an opinion from a project."""
    project = named_project(options.project)
    project.remove_opinion(options.name)
    say(f'Removed the opinion "{options.name}" from project {project.id}.')
