"""Let the process of a job write its rows: progress, results, and a heartbeat."""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from engine.jobs.requests import QUEUED_KINDS
from engine.jobs.rows import (
    Job,
    fact_of,
    job_from,
    job_row,
    set_process,
)
from engine.projects import ACTIVE, reading, writing
from engine.system import now, this_process
from engine.text import InputError

_BEAT_SECONDS = 1.0
_LOOK_SECONDS = 0.25  # how often it checks whether it is to stop


class Superseded(Exception):
    """The job no longer belongs to this process: it was deleted, or another process started it."""


class Report:
    """Writes the rows of one job for the process that does it.

    Every method writes one short transaction, and raises Superseded when the job belongs to
    another process by now.
    """

    def __init__(self, folder: Path, job: Job) -> None:
        self.folder, self.job = folder, job

    @property
    def has_project(self) -> bool:
        """Whether the project still exists; a deleted one does not come back."""
        return self.folder.joinpath("project.db").exists()

    def claim(self) -> None:
        """Write that this process does the job."""
        with writing(self.folder) as db:
            if not set_process(db, self.job.id, self.job.attempt, this_process(), self.folder):
                raise Superseded
            self._set(db, heartbeat_at=now())

    def begin(self) -> bool:
        """Go from queued to running; False when another job comes first, or this one is to stop."""
        with writing(self.folder) as db:
            row = self._own_row(db)
            if row["state"] != "queued" or (row["kind"] in QUEUED_KINDS and _first(db, row)):
                return False
            self._set(db, state="running", started_at=row["started_at"] or now(), message="")
            return True

    def waits_for(self) -> str:
        """Return the id of the job that comes first, "" when it is this one's turn."""
        with reading(self.folder) as db:
            row = self._own_row(db)
            return _first(db, row) if row["kind"] in QUEUED_KINDS else ""

    def state(self) -> str:
        """Return the state of the row, which a person may have changed."""
        with reading(self.folder) as db:
            return str(self._own_row(db)["state"])

    def beat(self) -> None:
        """Write that this process is alive."""
        with writing(self.folder) as db:
            self._set(db, heartbeat_at=now())

    def progress(self, **columns: Any) -> None:
        """Write where the job is: stage, method, share, seconds_left, message."""
        with writing(self.folder) as db:
            self._set(db, **columns)

    def epochs(self, rows: Iterable[Mapping[str, Any]], **columns: Any) -> None:
        """Write finished epochs and where the job is; epochs that are stored already stay."""
        with writing(self.folder) as db:
            self._set(db, **columns, heartbeat_at=now())
            for row in rows:
                _insert(db, "job_epochs", {"job": self.job.id, **row, "at": now()}, "IGNORE")

    def fact(self, key: str, value: Any) -> None:
        """Store a fact about the job as JSON."""
        with writing(self.folder) as db:
            self._own_row(db)
            row = {"job": self.job.id, "key": key, "value": json.dumps(value)}
            _insert(db, "job_facts", row, "REPLACE")

    def known(self, key: str) -> Any:
        """Return a stored fact about the job, None when there is none."""
        with reading(self.folder) as db:
            return fact_of(db, self.job.id, key)

    def points(self, points: Sequence[Mapping[str, Any]]) -> None:
        """Write points of a curve."""
        with writing(self.folder) as db:
            self._own_row(db)
            for point in points:
                place = {name: point[name] for name in ("fraction", "seed", "method")}
                row = {"job": self.job.id, **place, "point": json.dumps(dict(point))}
                _insert(db, "job_points", row, "REPLACE")

    def cells(self, cells: Sequence[Mapping[str, Any]]) -> None:
        """Write the states of cells of a curve."""
        with writing(self.folder) as db:
            self._own_row(db)
            for cell in cells:
                _insert(db, "job_cells", {"job": self.job.id, **cell}, "REPLACE")

    def speeds(self, speeds: Iterable[Mapping[str, Any]]) -> None:
        """Write measured speeds; later jobs are estimated from them."""
        with writing(self.folder) as db:
            self._own_row(db)
            for speed in speeds:
                _insert(db, "job_speeds", {"job": self.job.id, **speed, "at": now()}, "REPLACE")

    def finish(self, state: str, message: str = "") -> None:
        """Write how the job ended; "done" stands even if a stop was asked for meanwhile."""
        changes: dict[str, Any] = {"state": state, "message": message, "seconds_left": None}
        if state == "done":
            changes |= {"stage": "done", "share": 1.0}
        with writing(self.folder) as db:
            self._set(db, **changes, finished_at=now(), heartbeat_at=now())

    def _own_row(self, db: sqlite3.Connection) -> sqlite3.Row:
        try:
            row = job_row(db, self.job.id)
        except InputError:
            raise Superseded from None
        if row["attempt"] != self.job.attempt or row["state"] not in ACTIVE:
            raise Superseded
        return row

    def _set(self, db: sqlite3.Connection, **columns: Any) -> None:
        assignments = ", ".join(f"{name} = ?" for name in columns)
        changed = db.execute(
            f"UPDATE jobs SET {assignments} WHERE id = ? AND attempt = ? AND state IN {ACTIVE}",
            (*columns.values(), self.job.id, self.job.attempt),
        )
        if changed.rowcount != 1:
            raise Superseded


def open_report(folder: Path, id: str) -> Report:
    """Return the report of a job that this process is about to do."""
    with reading(folder) as db:
        return Report(folder, job_from(job_row(db, id), folder))


def _first(db: sqlite3.Connection, row: sqlite3.Row) -> str:
    """The job that comes before this one in the queue, "" when there is none."""
    before = db.execute(
        f"SELECT id FROM jobs WHERE kind IN {QUEUED_KINDS} AND state IN {ACTIVE} AND turn < ?"
        " ORDER BY turn LIMIT 1",
        (row["turn"],),
    ).fetchone()
    return str(before[0]) if before else ""


def _insert(db: sqlite3.Connection, table: str, row: Mapping[str, Any], conflict: str) -> None:
    columns, marks = ", ".join(row), ", ".join("?" * len(row))
    db.execute(
        f"INSERT OR {conflict} INTO {table} ({columns}) VALUES ({marks})", tuple(row.values())
    )


class Heart(threading.Thread):
    """A thread that writes heartbeats during a job, and notices when the job is to stop.

    It calls `on_stop` when a person asked for a stop, `on_lost` when the job or project is gone.
    """

    def __init__(
        self, report: Report, on_stop: Callable[[], None], on_lost: Callable[[], None]
    ) -> None:
        super().__init__(daemon=True)
        self._report, self._on_stop, self._on_lost = report, on_stop, on_lost
        self._is_over = threading.Event()

    def run(self) -> None:
        """Check a few times per second whether to stop, and write a heartbeat every second."""
        looks, is_stopping = 0, False
        while not self._is_over.wait(_LOOK_SECONDS):
            looks += 1
            try:
                if looks % round(_BEAT_SECONDS / _LOOK_SECONDS) == 0:
                    self._report.beat()
                if not is_stopping and self._report.state() == "stopping":
                    is_stopping = True
                    self._on_stop()
            except Superseded:
                if not self._is_over.is_set():
                    self._on_lost()
                return
            except InputError:
                if self._report.has_project:  # a busy or full disk recovers
                    continue
                if not self._is_over.is_set():
                    self._on_lost()
                return
            except sqlite3.Error:
                continue

    def stop(self) -> None:
        """Stop, and return when the last heartbeat is written."""
        self._is_over.set()
        with suppress(RuntimeError):  # it was never started
            self.join()
