"""The further downloads of the page Export: summaries, dictionaries, report, project, weights."""

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st

from engine.jobs import Job
from engine.project import Project
from ui import parts
from ui.state import downloads, findings
from ui.state.export import Choice, file_name


class Extra(NamedTuple):
    """A file to download: what is on its button, what it is, its name, how it is made."""

    key: str
    label: str
    about: str
    file_name: str
    make: Callable[[], bytes]


def show(project: Project, choice: Choice, job: Job | None) -> None:
    """Draw a button and a line of words for each file."""
    for extra in extras(project, choice, job):
        button, about = st.columns([2, 4], vertical_alignment="center")
        button.download_button(
            extra.label,
            data=extra.make,
            file_name=extra.file_name,
            key=f"export_{extra.key}",
            on_click="ignore",
            width="stretch",
        )
        about.caption(extra.about)


def extras(project: Project, choice: Choice, job: Job | None) -> list[Extra]:
    """Return the files that this project can offer."""
    options = choice.options
    found = [
        Extra(
            "report",
            "Report (HTML)",
            "One page with figures, scores and 50 sentences; opens anywhere, needs no network.",
            f"report-{project.id}.html",
            lambda: downloads.report(project, choice, job),
        ),
        Extra(
            "surfaces",
            "Phrases found (CSV)",
            "Each phrase of the chosen entities once, with how often it was found.",
            file_name(choice, "-phrases.csv"),
            lambda: downloads.surfaces(project, choice),
        ),
    ]
    if job is not None or project.dictionary_version():
        found.append(
            Extra(
                "comparison",
                "Side by side (CSV)",
                "One row a stretch of text, with the type that each method gives it.",
                f"comparison-{job.id if job else project.id}.csv",
                lambda: downloads.comparison(project, job, options),
            )
        )
    if project.dictionary_version():
        found += of_dictionaries(project, choice)
    found.append(
        Extra(
            "project",
            "Project (zip)",
            "Everything: text, dictionaries, decisions and runs. Open it again on the page Home.",
            f"{project.id}.zip",
            lambda: downloads.project_zip(project),
        )
    )
    if job is not None:
        found.append(of_weights(choice, job))
    return found


def of_dictionaries(project: Project, choice: Choice) -> list[Extra]:
    """Return the dictionaries as two kinds of files."""
    version = project.dictionary_version()
    return [
        Extra(
            "phrases",
            "Dictionaries (CSV)",
            f"The phrases of version {version} that are not muted, with their types.",
            f"dictionaries-v{version}.csv",
            lambda: downloads.phrases(project, choice.options),
        ),
        Extra(
            "patterns",
            "Patterns (JSONL)",
            "The same phrases for spaCy's EntityRuler and for Prodigy.",
            f"patterns-v{version}.jsonl",
            lambda: downloads.patterns(project),
        ),
    ]


def of_weights(choice: Choice, job: Job) -> Extra:
    """Return the trained method that the page is about."""
    methods = findings.methods_of(job)
    method = choice.method if choice.method in methods else methods[0]
    name = parts.METHOD_NAMES.get(method, method)
    return Extra(
        "model",
        "Weights (zip)",
        f"{name} as it was trained, with its settings, to be used without this project.",
        f"{method}-{job.id}.zip",
        lambda: downloads.model_bundle(job, method),
    )
