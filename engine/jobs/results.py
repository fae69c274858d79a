"""Read what a job has stored so far: epochs, priors, points of a curve, entities, its log."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from engine.files import SourceFile
from engine.jobs.requests import (
    TRAINABLE,
    PredictRequest,
    Request,
    TrainRequest,
    request_from,
    settings_of,
)
from engine.jobs.rows import Job, fact_of, job_from, job_row
from engine.planning import METHODS
from engine.projects import (
    ACTIVE,
    Project,
    is_point,
    parsed,
    read_once,
    reading,
    wrong_value,
)
from engine.run_folder import PREDICTIONS, Card, read_card, read_entities, run_name
from engine.scoring import FoundAgain
from engine.text import Corpus, Entity, InputError

LOG = "log.txt"
TEXTS = "text"  # folder of a predict job's files
EPOCH_COLUMNS = (
    "method", "stage", "epoch", "epochs", "risk", "positive", "negative", "bounded", "seconds",
    "tokens_per_second", "at",
)  # fmt: skip
POINT_COLUMNS = (
    "fraction", "seed", "method", "precision", "recall", "f1", "token_coverage", "n_terms",
    "n_entities", "run_id", "seconds",
)  # fmt: skip
_LOG_BYTES = 200_000  # read from the end
_END = re.compile(r"attempt (\d+) ended as (failed|cancelled): (.*)")


@dataclass(frozen=True, slots=True)
class Results:
    """What those methods of a job found that are done."""

    entities: Mapping[str, Mapping[str, tuple[Entity, ...]]]  # by method, then document id
    cards: Mapping[str, Card]  # by method
    scores: Mapping[str, Any] = field(default_factory=dict)  # as in `scores_of`


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of a training job, and its progress."""

    name: str  # prepare, confidence, training, predict, hidden
    method: str  # "" for what all methods share
    state: str  # waiting, running or done
    share: float


def find_job(project: Project, id: str) -> Job:
    """Return a job as it is stored, without checking whether its process still runs."""
    with reading(project.folder) as db:
        return job_from(job_row(db, id), project.folder)


def run_folder(job: Job, method: str) -> Path:
    """Return the run folder of one method of the job, which `predict` can use."""
    if method not in TRAINABLE:
        raise InputError(f'"{method[:40]}" is not a method')
    return job.folder / run_name(method, int(job.request.get("seed", 0)))


def twin_folder(job: Job, method: str) -> Path:
    """Return the folder of the method's fast twin, inside its own; there may be none yet."""
    return run_folder(job, method) / "twin"


def epochs(project: Project, id: str) -> pd.DataFrame:
    """Return one row per finished epoch, by method and stage."""
    return _table(
        project,
        f"SELECT {', '.join(EPOCH_COLUMNS)} FROM job_epochs WHERE job = ? "
        "ORDER BY method, stage, epoch",
        id,
        EPOCH_COLUMNS,
    )


def confidence_histogram(project: Project, id: str) -> pd.DataFrame | None:
    """Return the histogram of confidences: low, high, labeled, unlabeled; None if not known yet."""
    rows = _fact(project, id, "confidence_histogram")
    return None if rows is None else pd.DataFrame(rows)


def confidence_scores(project: Project, id: str) -> dict[str, dict[str, float | None]] | None:
    """Return the token scores of the confidence, over "unlabeled" and "all"; None without gold."""
    scores: dict[str, dict[str, float | None]] | None = _fact(project, id, "confidence_scores")
    return scores


def priors_of(project: Project, id: str) -> pd.DataFrame:
    """Return the priors used by the job: entity_type, value, source, labeled_share."""
    rows = _fact(project, id, "priors") or []
    return pd.DataFrame(rows, columns=["entity_type", "value", "source", "labeled_share"])


def scores_of(project: Project, id: str) -> dict[str, Any]:
    """Return the scores of a training job by method, "dictionary" included.

    Each has overall, by_type, tokens and errors. There are none without gold, or before the end.
    """
    return dict(_fact(project, id, "scores") or {})


def hidden_found(project: Project, id: str) -> dict[str, FoundAgain]:
    """Return what each method of a job found again of hidden phrases; none if it did not compare.

    It compares runs. It says more than a method finds of names that the dictionaries lack.
    """
    stored = (_fact(project, id, "hidden_phrases") or {}).get("found", {})
    found = {method: FoundAgain.of_record(record) for method, record in stored.items()}
    return {method: result for method, result in found.items() if result is not None}


def shards_of(project: Project, id: str) -> dict[str, Any]:
    """Return the figures of a finished shards job, such as shards, done and entities by type."""
    return dict(_fact(project, id, "shards") or {})


def job_notes(project: Project, id: str) -> list[str]:
    """Return notes about the job's data, such as rough priors or few labels."""
    return list(_fact(project, id, "notes") or [])


def curve_points(project: Project, id: str) -> pd.DataFrame:
    """Return the points of a curve that are done; without gold they have no scores."""
    with reading(project.folder) as db:
        rows = db.execute(
            "SELECT point FROM job_points WHERE job = ? ORDER BY fraction, rowid", (id,)
        ).fetchall()
    points = [parsed(row[0], "a point") for row in rows]
    if not all(map(is_point, points)):
        raise wrong_value("a point")
    return pd.DataFrame(points, columns=list(POINT_COLUMNS))


def curve_cells(project: Project, id: str) -> pd.DataFrame:
    """Return the cells of a curve: fraction, method, seed, state, message (why it failed).

    A cell that was being trained when its job ended is queued until the job is resumed.
    """
    return _table(
        project,
        "SELECT c.fraction, c.method, c.seed, CASE WHEN c.state = 'running' AND j.state NOT IN"
        f" {ACTIVE} THEN 'queued' ELSE c.state END, c.message FROM job_cells AS c"
        " JOIN jobs AS j ON j.id = c.job WHERE c.job = ? ORDER BY c.fraction, c.method, c.seed",
        id,
        ("fraction", "method", "seed", "state", "message"),
    )


def stages(project: Project, id: str) -> list[Stage]:
    """Return the steps of a training job in order: prepare, the stages per method, predict."""
    job = find_job(project, id)
    request = request_from(job.kind, job.request) if job.kind == "train" else None
    if not isinstance(request, TrainRequest):
        return []
    table, is_done = epochs(project, id), job.state == "done"
    has_begun = bool(len(table)) or is_done or job.stage in ("predict", "hidden")
    done = table.groupby(["method", "stage"])["epoch"].max().to_dict() if len(table) else {}
    types = max(1, len(priors_of(project, id)))
    steps = [Stage("prepare", "", *_state(float(has_begun), job.state == "running"))]
    for method in request.methods:
        for stage, total in METHODS[method].epochs(settings_of(request), types).items():
            share = 1.0 if is_done else min(1.0, done.get((method, stage), 0) / total)
            steps.append(Stage(stage, method, *_state(share, (method, stage) in done)))
    is_predicted = is_done or job.stage == "hidden"
    steps.append(Stage("predict", "", *_state(float(is_predicted), job.stage == "predict")))
    if request.hide:
        steps.append(Stage("hidden", "", *_state(float(is_done), job.stage == "hidden")))
    return steps


def _state(share: float, has_begun: bool) -> tuple[str, float]:
    if share >= 1:
        return "done", 1.0
    return ("running" if has_begun else "waiting"), share


def log_tail(project: Project, id: str, lines: int = 200) -> list[str]:
    """Return the last lines of the job's log."""
    return _log_lines(find_job(project, id))[-lines:]


def end_line(job: Job, state: str, message: str) -> str:
    """Return the line of the log that says how a job ended while its row cannot be written."""
    return f"attempt {job.attempt} ended as {state}: {message}\n"


def end_in_log(job: Job) -> tuple[str, str] | None:
    """Return the state and the message of the latest start of a job, if its log has them."""
    try:
        lines = _log_lines(job)
    except OSError:
        return None
    for match in filter(None, map(_END.fullmatch, reversed(lines))):
        if int(match[1]) == job.attempt:
            return match[2], match[3]
    return None


def _log_lines(job: Job) -> list[str]:
    try:
        with open(job.folder / LOG, "rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - _LOG_BYTES))
            return log.read().decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return []


# ---- entities -------------------------------------------------------------------------------


def results(project: Project, id: str) -> Results:
    """Return the entities, cards and scores of the methods that are done; nothing is cached."""
    job = find_job(project, id)
    if job.kind == "predict":
        folders = {job.request["method"]: job.folder}
    else:
        folders = {method: run_folder(job, method) for method in job.request.get("methods", ())}
    done = {name: folder for name, folder in folders.items() if (folder / PREDICTIONS).exists()}
    return Results(
        {method: read_entities(folder / PREDICTIONS) for method, folder in done.items()},
        {method: card for method, folder in done.items() if (card := run_card(folder))},
        scores_of(project, id),
    )


def predicted_corpus(project: Project, id: str) -> Corpus:
    """Return the texts of a predict job, with their entities once it is done."""
    job = find_job(project, id)
    request = stored_request(job)
    if not isinstance(request, PredictRequest):
        raise ValueError(f"job {id} is a {job.kind} job, not a predict job")
    [corpus] = read_once(job.folder, [request.files], request.options)
    path = job.folder / PREDICTIONS
    entities = read_entities(path) if path.exists() else {}
    return Corpus(corpus.documents, entities, corpus.files)


def stored_request(job: Job) -> Request:
    """Return the request of a job, with the files of a predict job."""
    files: tuple[SourceFile, ...] = ()
    if job.kind == "predict":
        paths = [job.folder / TEXTS / str(i) for i in range(len(job.request["files"]))]
        try:
            files = tuple(
                SourceFile(name, path.read_bytes())
                for name, path in zip(job.request["files"], paths, strict=True)
            )
        except OSError as error:
            raise InputError(f"a text of this job is gone: {error}. Start it again") from error
    return request_from(job.kind, job.request, files)


def run_card(folder: Path) -> Card | None:
    """Return the card of a finished run; None when there is none that can be read."""
    try:
        return read_card(folder)
    except InputError:
        return None


def _fact(project: Project, id: str, key: str) -> Any:
    with reading(project.folder) as db:
        return fact_of(db, id, key)


def _table(project: Project, query: str, id: str, columns: tuple[str, ...]) -> pd.DataFrame:
    with reading(project.folder) as db:
        rows = [tuple(row) for row in db.execute(query, (id,))]
    return pd.DataFrame(rows, columns=list(columns))
