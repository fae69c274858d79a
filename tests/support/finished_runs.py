"""Make projects with a finished run without training: write what a job would have written."""

import json
from collections.abc import Mapping, Sequence

from engine import jobs
from engine.files.sources import SourceFile
from engine.jobs.rows import Job
from engine.projects.project import Project
from engine.projects.store import writing
from engine.projects.workspace import create_project
from engine.run_folder.card import PREDICTIONS, Card, write_card
from engine.run_folder.predictions import write_predictions
from engine.settings import Settings
from engine.system.moments import now
from engine.text.model import Entity

TEXT = b"He had gout and chronic kidney disease. Lead was found. Nothing else.\n"
#        0      7        16     24     31        40
FOUND: Mapping[str, Sequence[tuple[str, str, float]]] = {
    "conf_mpu": [
        ("gout", "Disease", 0.99),
        ("chronic kidney disease", "Disease", 0.7),
        ("Nothing", "Chemical", 0.55),
    ],
    "mpu": [("gout", "Disease", 0.97), ("kidney disease", "Disease", 0.8)],
}


def make_project(
    text: bytes = TEXT,
    *,
    name: str = "Trial",
    file_name: str = "notes.txt",
    dictionaries: Mapping[str, bytes] | None = None,
) -> Project:
    """Return a project with one text and two small dictionaries."""
    project = create_project(name)
    project.add_text([SourceFile(file_name, text)])
    given = {"Disease.txt": b"gout\n", "Chemical.txt": b"lead\n"}
    files = (given if dictionaries is None else dictionaries).items()
    project.add_dictionaries([SourceFile(name, data) for name, data in files])
    return project


def finish_run(
    project: Project, findings: Mapping[str, Sequence[tuple[str, str, float]]] = FOUND
) -> Job:
    """Return a training job that is done: each method found these (surface, type, score)."""
    document = project.corpus().documents[0]
    job = jobs.create(project, jobs.TrainRequest(methods=tuple(findings), preset="quick"))
    for method, rows in findings.items():
        entities = []
        for surface, entity_type, score in rows:
            start = document.text.index(surface)
            end = start + len(surface)
            entities.append(Entity(start, end, entity_type, score, method, run_id=job.id))
        folder = jobs.run_folder(job, method)
        write_predictions(folder / PREDICTIONS, {document.id: tuple(entities)})
        write_card(folder, make_card(folder.name, method))
    return end_job(project, job)


def record_f1(project: Project, id: str, f1: Mapping[str, float]) -> None:
    """Write the F1 of a job's methods against gold."""
    scores = {method: {"overall": {"f1": value}} for method, value in f1.items()}
    with writing(project.folder) as db:
        db.execute(
            "INSERT INTO job_facts (job, key, value) VALUES (?, 'scores', ?)",
            (id, json.dumps(scores)),
        )


def record_hidden(
    project: Project, id: str, epochs: int = 0, after_epochs: Sequence[int] = (), **found: int
) -> None:
    """Write that methods found so many words of each of twenty hidden phrases with two words."""
    record = {"rate": 0.1, "phrases": [f"p{i}" for i in range(20)], "words": [2] * 20}
    if epochs:
        record |= {"epochs": epochs, "after_epochs": list(after_epochs)}
    value = {"found": {method: record | {"found": [n] * 20} for method, n in found.items()}}
    with writing(project.folder) as db:
        db.execute(
            "INSERT INTO job_facts (job, key, value) VALUES (?, 'hidden_phrases', ?)",
            (id, json.dumps(value)),
        )


def make_card(run_id: str, method: str) -> Card:
    """Return the card of a run of one type that trained for no epoch."""
    return Card(
        run_id=run_id,
        made_at="2026-01-01T00:00:00+00:00",
        settings=Settings(method=method),
        types=("Disease",),
        priors=(0.9, 0.1),
        history=(),
        confidence_histories=(),
        data_fingerprint="",
        dictionary_fingerprint="",
        versions={},
        taggers=1,
        odds=1.0,
        scores={},
    )


def end_job(project: Project, job: Job, state: str = "done", message: str = "") -> Job:
    """Mark a job as ended."""
    with writing(project.folder) as db:
        db.execute(
            "UPDATE jobs SET state = ?, stage = 'done', share = 1, message = ?, started_at = ?, "
            "finished_at = ? WHERE id = ?",
            (state, message, now(), now(), job.id),
        )
    return jobs.get_job(project, job.id)
