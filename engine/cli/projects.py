"""`projects`: list the projects in the data folder."""

import argparse

from engine.cli import console
from engine.cli.terminal import note_all, say
from engine.projects import data_folder, list_projects


def projects_command(options: argparse.Namespace) -> None:
    """Print one line per project, newest first."""
    projects = list_projects()
    if not projects:
        say(f"No projects in {data_folder()}. Make one with: glossa import --create NAME")
        return
    rows = [
        {
            "id": project.id,
            "name": project.name,
            "documents": project.documents,
            "sentences": project.sentences,
            "tokens": project.tokens,
            "dictionaries": project.dictionaries,
            "phrases": project.phrases,
            "last job": project.last_job or None,
            "MB": project.bytes / 1e6,
            "modified": f"{project.modified:%Y-%m-%d %H:%M}",
        }
        for project in projects
    ]
    say(console.table(console.columns_of(rows)))
    note_all(f"{project.id}: {project.problem}" for project in projects if project.problem)
