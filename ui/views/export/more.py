"""More downloads on the page Export: report, summaries, dictionaries, project, weights."""

from collections.abc import Callable
from pathlib import PurePath
from typing import NamedTuple

import streamlit as st

from engine.export import MODEL_FORMS, ExportChoice, card_bytes, default_method
from engine.jobs import Job
from engine.projects import Project
from ui.parts import wording
from ui.parts.download import card_button
from ui.state import findings
from ui.views.export import downloads
from ui.views.export.state import file_name

MODELS = {  # each holds its card, glossa.card.json
    "spacy": (
        "Tagger for spaCy (zip)",
        "Unpack it and use spacy.load. It finds the same entities as the page Predict.",
    ),
    "transformers": (
        "Tagger for transformers (zip)",
        'For pipeline("token-classification"). Single entities may differ, as its README says.',
    ),
    "onnx": ("Tagger as ONNX (zip)", "Graphs for onnxruntime, with a README on their inputs."),
}


class Extra(NamedTuple):
    """A file to download: the label of its button, what it holds, its name, how it is made."""

    key: str
    label: str
    about: str
    file_name: str
    make: Callable[[], bytes]
    facts: Callable[[], downloads.Facts] | None = None  # what made it; None: its card is inside
    is_same: bool = True  # whether each download gives the same bytes
    is_missing: bool = False  # a package for it is not installed

    def card(self) -> bytes:
        """Return the card of the file."""
        assert self.facts is not None
        format = PurePath(self.file_name).suffix[1:]
        data = self.make() if self.is_same else None
        return card_bytes(self.facts(), self.file_name, format, data)


def show(project: Project, choice: ExportChoice, job: Job | None) -> None:
    """Draw a button, the button of its card and one line of explanation per file."""
    st.caption(
        "A card says what made a file: text, dictionaries, run, settings, Glossa's version. The "
        "zips of taggers hold theirs."
    )
    for extra in extras(project, choice, job):
        button, card, about = st.columns([7, 3, 8], vertical_alignment="center")
        button.download_button(
            extra.label,
            data=extra.make,
            file_name=extra.file_name,
            key=f"export_{extra.key}",
            on_click="ignore",
            width="stretch",
            disabled=extra.is_missing,
        )
        if extra.facts is not None:
            with card:
                card_button(extra.file_name, extra.card, f"export_{extra.key}")
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
            lambda: downloads.whole_card(project, "a report on the project", job),
        ),
        Extra(
            "surfaces",
            "Phrases found (CSV)",
            "One row per phrase of the chosen entities, with how often it was found.",
            file_name(choice, "-phrases.csv"),
            lambda: downloads.surfaces(project, choice),
            lambda: downloads.chosen_card(project, choice, "the phrases of the chosen entities"),
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
                lambda: downloads.whole_card(project, "what each method found, side by side", job),
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
            lambda: downloads.whole_card(project, "the whole project", job),
            is_same=False,
        )
    )
    if job is not None:
        method = exported_method(project, choice, job)
        files.append(weights_file(job, method))
        files += [model_file(job, method, form) for form in model_forms(job)]
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
            lambda: downloads.whole_card(project, "the phrases of the dictionaries"),
        ),
        Extra(
            "patterns",
            "Patterns (JSONL)",
            "The same phrases for spaCy's EntityRuler and Prodigy.",
            f"patterns-v{version}.jsonl",
            lambda: downloads.patterns(project),
            lambda: downloads.whole_card(project, "the phrases of the dictionaries, as patterns"),
        ),
    ]


def exported_method(project: Project, choice: ExportChoice, job: Job) -> str:
    """Return the chosen method if the run has it, else the default method of the run."""
    has_method = choice.method in findings.methods_of(job)
    return choice.method if has_method else default_method(project, job)


def model_forms(job: Job) -> list[str]:
    """Return the forms that this run can take; transformers loads fine-tuned ones only."""
    is_fine_tuned = job.request["encoder"] == "transformer"
    return [form for form in MODEL_FORMS if form != "transformers" or is_fine_tuned]


def model_file(job: Job, method: str, form: str) -> Extra:
    """Return the trained method as another tool loads it."""
    label, about = MODELS[form]
    missing = MODEL_FORMS[form].missing
    if missing:
        about = f'Needs {" and ".join(missing)}: pip install "glossa[{MODEL_FORMS[form].extra}]".'
    return Extra(
        f"model_{form}",
        label,
        about,
        f"{method}-{form}-{job.id}.zip",
        lambda: downloads.model_as(job, method, form),
        is_missing=bool(missing),
    )


def weights_file(job: Job, method: str) -> Extra:
    """Return a method as it was trained."""
    name = wording.method_name(method)
    return Extra(
        "model",
        "Weights (zip)",
        f"The trained {name} with its settings, to use without this project.",
        f"{method}-{job.id}.zip",
        lambda: downloads.model_bundle(job, method),
    )
