"""More downloads on the page Export: report, summaries, dictionaries, project, weights."""

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st

from engine.export import ExportChoice, default_method
from engine.jobs import Job
from engine.projects import Project
from ui.parts import wording
from ui.state import findings
from ui.views.export import downloads
from ui.views.export.state import file_name


class Extra(NamedTuple):
    """A file to download: the label of its button, what it holds, its name, how it is made."""

    key: str
    label: str
    about: str
    file_name: str
    make: Callable[[], bytes]


def show(project: Project, choice: ExportChoice, job: Job | None) -> None:
    """Draw one button and one line of explanation per file."""
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


def extras(project: Project, choice: ExportChoice, job: Job | None) -> list[Extra]:
    """Return the files that this project can offer."""
    options = choice.options
    files = [
        Extra(
            "report",
            "Report (HTML)",
            "One page with figures, scores and 50 sentences. Opens in any browser, also offline.",
            f"report-{project.id}.html",
            lambda: downloads.report(project, choice, job),
        ),
        Extra(
            "surfaces",
            "Phrases found (CSV)",
            "One row per phrase of the chosen entities, with how often it was found.",
            file_name(choice, "-phrases.csv"),
            lambda: downloads.surfaces(project, choice),
        ),
    ]
    if job is not None or project.dictionary_version():
        files.append(
            Extra(
                "comparison",
                "Side by side (CSV)",
                "One row per span of text, with the type that each method gives it.",
                f"comparison-{job.id if job else project.id}.csv",
                lambda: downloads.comparison(project, job, options),
            )
        )
    if project.dictionary_version():
        files += dictionary_files(project, choice)
    files.append(
        Extra(
            "project",
            "Project (zip)",
            "Everything: text, dictionaries, decisions and runs. Import it on the page Home.",
            f"{project.id}.zip",
            lambda: downloads.project_zip(project),
        )
    )
    if job is not None:
        files.append(weights_file(project, choice, job))
    return files


def dictionary_files(project: Project, choice: ExportChoice) -> list[Extra]:
    """Return the dictionaries as a table and as patterns."""
    version = project.dictionary_version()
    return [
        Extra(
            "phrases",
            "Dictionaries (CSV)",
            f"The phrases of version {version} with their types, without muted ones.",
            f"dictionaries-v{version}.csv",
            lambda: downloads.phrases(project, choice.options),
        ),
        Extra(
            "patterns",
            "Patterns (JSONL)",
            "The same phrases for spaCy's EntityRuler and Prodigy.",
            f"patterns-v{version}.jsonl",
            lambda: downloads.patterns(project),
        ),
    ]


def weights_file(project: Project, choice: ExportChoice, job: Job) -> Extra:
    """Return the chosen method as it was trained, else the default method of the run."""
    has_method = choice.method in findings.methods_of(job)
    method = choice.method if has_method else default_method(project, job)
    name = wording.method_name(method)
    return Extra(
        "model",
        "Weights (zip)",
        f"The trained {name} with its settings, to use without this project.",
        f"{method}-{job.id}.zip",
        lambda: downloads.model_bundle(job, method),
    )
