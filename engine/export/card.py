"""Describe what made an export, in a small JSON file beside it, so that it can be made again."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine import jobs
from engine.export.choice import DICTIONARY, GOLD, REVIEWED, RUN, ExportChoice
from engine.files import written_whole
from engine.jobs import Job
from engine.projects import Project
from engine.run_folder import dictionary_facts, new_card, run_facts, text_facts
from engine.text import Corpus

CARD_ENDING = ".card.json"
_WHAT = {
    RUN: "what a trained method found",
    REVIEWED: "review decisions, then what a trained method found, then what dictionaries match",
    DICTIONARY: "what the dictionaries match",
    GOLD: "what people annotated",
}


# ---- facts about projects ---------------------------------------------------------------------


def project_card(
    project: Project, choice: ExportChoice, job: Job | None, corpus: Corpus, command: str = ""
) -> dict[str, Any]:
    """Return the card of an export of a project; `corpus` is what is written.

    With a run, dictionaries and matching are those that the run was trained with.
    """
    of_run = job if choice.what == RUN else None
    number = of_run.dictionary_version if of_run else project.dictionary_version()
    known = {entry.version for entry in project.dictionary_history()}
    dictionaries = project.dictionaries_at(number) if number in known else []
    return new_card(
        _WHAT[choice.what],
        command=command or None,
        project={"id": project.id, "name": project.name},
        text={
            "files": [file.name for file in project.text_files()],
            "documents": len(corpus.documents),
            "fingerprint": of_run.text_key if of_run else project.text_key(),
        },
        dictionaries=dictionary_facts(dictionaries, number) if number else None,
        matching=of_run.match_preset if of_run else project.match_preset(),
        run=_job_facts(job, choice.method) if choice.what in (RUN, REVIEWED) and job else None,
        entities=sum(map(len, corpus.entities.values())),
        filters=asdict(choice.selection),
    )


def summary_card(
    project: Project, what: str, runs: Sequence[tuple[Job, str]] = (), **facts: object
) -> dict[str, Any]:
    """Return the card of a file about a project: its text, its dictionaries, and methods of runs.

    They are those of today, as a summary or the project's zip has them.
    """
    number = project.dictionary_version()
    dictionaries = project.dictionaries() if number else []
    return new_card(
        what,
        project={"id": project.id, "name": project.name},
        text={
            "files": [file.name for file in project.text_files()],
            "fingerprint": project.text_key(),
        },
        dictionaries=dictionary_facts(dictionaries, number) if number else None,
        matching=project.match_preset(),
        runs=[_job_facts(run, method) for run, method in runs] or None,
        **facts,
    )


def curve_card(project: Project, job: Job, what: str) -> dict[str, Any]:
    """Return the card of a file about a coverage curve: what was asked, on which text."""
    number = job.dictionary_version
    known = {entry.version for entry in project.dictionary_history()}
    dictionaries = project.dictionaries_at(number) if number in known else []
    return new_card(
        what,
        project={"id": project.id, "name": project.name},
        text={"fingerprint": job.text_key},
        dictionaries=dictionary_facts(dictionaries, number),
        matching=job.match_preset,
        curve={"id": job.id, "asked": dict(job.request)},
    )


def model_card(run: Job, method: str, what: str) -> dict[str, Any]:
    """Return the card of a trained method that leaves Glossa."""
    return new_card(what, run=_job_facts(run, method))


def prediction_card(project: Project, run: Job, method: str, corpus: Corpus) -> dict[str, Any]:
    """Return the card of what a run of a project found in new texts."""
    return new_card(
        _WHAT[RUN],
        project={"id": project.id, "name": project.name},
        text=text_facts(corpus),
        run=_job_facts(run, method),
        entities=sum(map(len, corpus.entities.values())),
    )


def _job_facts(job: Job, method: str) -> dict[str, Any]:
    asked = {name: job.request.get(name) for name in ("preset", "seed", "use_decisions")}
    asked |= {
        "dictionary_version": job.dictionary_version,
        "matching": job.match_preset,
        "text_fingerprint": job.text_key,
    }
    card = jobs.run_card(jobs.run_folder(job, method))
    facts = run_facts(card, job.id) if card else {"id": job.id, "method": method}
    return facts | {"asked": asked}


# ---- the file -------------------------------------------------------------------------------


def card_path(path: str | Path) -> Path:
    """Return where the card of a file lies.

    >>> card_path("out/entities.csv").name
    'entities.csv.card.json'
    """
    # The whole name: entities.csv and entities.conll in one folder have a card each.
    return Path(f"{path}{CARD_ENDING}")


def card_bytes(card: Mapping[str, Any], name: str, format: str, data: bytes | None) -> bytes:
    """Return the card of a file; without its bytes, if they are others at each download."""
    if data is None:
        return _encoded(card, {"name": name, "format": format})
    return _encoded(card, _file_facts(name, format, len(data), hashlib.sha256(data).hexdigest()))


def write_export_card(path: str | Path, card: Mapping[str, Any], format: str) -> None:
    """Write the card beside a written file; a pipe or a device gets none."""
    path = Path(path)
    if not path.is_file():
        return
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    with written_whole(card_path(path)) as out:
        out.write(_encoded(card, _file_facts(path.name, format, os.path.getsize(path), digest)))


def _file_facts(name: str, format: str, size: int, digest: str) -> dict[str, Any]:
    return {"name": name, "format": format, "bytes": size, "sha256": digest}


def _encoded(card: Mapping[str, Any], file: Mapping[str, Any]) -> bytes:
    # ASCII, because a file name may hold half a surrogate pair, which UTF-8 cannot.
    return (json.dumps({**card, "file": file}, indent=2) + "\n").encode()
