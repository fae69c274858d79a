"""Read and change the rows of jobs in a project's database.

Two sides write rows: callers (start, cancel, resume) and the job's own process, which reports
through `reports`. A row counts how often its job was started (`attempt`), and a process may
write only while the count is its own: one that was believed dead cannot disturb its successor.
"""

import re
import sqlite3
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from engine.projects import (
    ACTIVE,
    checked_row,
    is_fact,
    is_request,
    known_request,
    parsed,
    wrong_value,
)
from engine.system import Process, moment
from engine.text import InputError

RUNS = "runs"  # the folder of jobs inside a project
# A project may come from a stranger's zip, and an id becomes the name of a folder.
_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{4}", re.ASCII)
_KINDS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("id", "kind", "state", "stage", "method", "message", "request"), str),
    **dict.fromkeys(("labels_key", "text_key", "match_preset"), str),
    **dict.fromkeys(("created_at", "started_at", "heartbeat_at", "finished_at"), str),
    **dict.fromkeys(("pid", "dictionary_version", "attempt"), int),
    "share": (int, float),
    "seconds_left": (int, float, type(None)),
}
TABLES_OF_A_JOB = ("job_epochs", "job_points", "job_cells", "job_facts", "job_speeds")


@dataclass(frozen=True, slots=True)
class Job:
    """A training, curve, prediction, probe or suggestion: what was asked for, and how far it is."""

    id: str
    kind: str  # train, curve, predict, shards, probe, suggest, twin
    state: str  # queued, running, stopping; then cancelled, failed, interrupted or done
    stage: str  # waiting, reading, labels, priors, confidence, training, predict, …
    method: str  # the method that reported last
    share: float  # 0 to 1, of the whole job
    seconds_left: float | None
    message: str  # one sentence: why it ended, or what it waits for
    created_at: datetime
    started_at: datetime | None
    heartbeat_at: datetime | None
    finished_at: datetime | None
    pid: int | None
    request: dict[str, Any]  # without what only another version of Glossa knew
    folder: Path
    dictionary_version: int
    labels_key: str
    text_key: str
    match_preset: str
    attempt: int  # counts starts: 1, and one more each time it is resumed

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE

    @property
    def can_resume(self) -> bool:
        return self.state in ("cancelled", "failed", "interrupted")


def job_rows(db: sqlite3.Connection, where: str = "", *values: Any) -> list[sqlite3.Row]:
    """Return the rows of jobs, newest first; by row, since the clock may have been set back."""
    return db.execute(f"SELECT * FROM jobs {where} ORDER BY rowid DESC", values).fetchall()


def is_job_id(name: str) -> bool:
    """Return whether a job may have this id, and its folder this name."""
    return _ID.fullmatch(name) is not None


def job_row(db: sqlite3.Connection, id: str) -> sqlite3.Row:
    """Return the row of one job; InputError when there is none."""
    rows = job_rows(db, "WHERE id = ?", id)
    if not rows:
        raise InputError(f'this project has no job "{id}"; it may have been deleted')
    return rows[0]


def job_from(row: sqlite3.Row, folder: Path) -> Job:
    """Return a row as a job of the project in `folder`; InputError if it is not as we write it."""
    values = checked_row(row, _KINDS, "a job")
    id = values["id"]
    if not is_job_id(id):
        raise InputError(f"project.db is damaged: {id[:40]!r} is no job. Delete the project")
    for name in ("created_at", "started_at", "heartbeat_at", "finished_at"):
        values[name] = moment(values[name]) if values[name] else None
    values["pid"] = values["pid"] or None
    values["request"] = known_request(values["kind"], parsed(values["request"], f"job {id}"))
    if not is_request(values["kind"], values["request"]):
        raise wrong_value(f"job {id}")
    return Job(**values, folder=folder / RUNS / id)


def process_from(row: sqlite3.Row) -> Process | None:
    """Return the process that does a job; None while it is being started."""
    return Process(row["pid"], row["began"], row["host"]) if row["pid"] else None


def set_process(
    db: sqlite3.Connection, id: str, attempt: int, process: Process, folder: Path
) -> bool:
    """Store which process does the job; False when the job has ended or was started again."""
    changed = db.execute(
        "UPDATE jobs SET pid = ?, began = ?, host = ?, place = ? WHERE id = ? AND attempt = ?"
        f" AND state IN {ACTIVE}",
        (process.pid, process.began, process.host, str(folder.resolve()), id, attempt),
    )
    return changed.rowcount == 1


def next_turn(db: sqlite3.Connection) -> int:
    """Return the number of the next job in the queue."""
    return int(db.execute("SELECT COALESCE(MAX(turn), 0) + 1 FROM jobs").fetchone()[0])


def fact_of(db: sqlite3.Connection, id: str, key: str) -> Any:
    """Return the fact that a job stored under `key`; None when there is none."""
    row = db.execute("SELECT value FROM job_facts WHERE job = ? AND key = ?", (id, key)).fetchone()
    if row is None:
        return None
    what = f"{key} of job {id}"
    value = parsed(row[0], what)
    if not is_fact(key, value):
        raise wrong_value(what)
    return value
