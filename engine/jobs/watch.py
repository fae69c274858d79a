"""Compare the rows of jobs with running processes: find jobs that died, end jobs that do not stop.

A process that can be seen running counts as alive, however old its heartbeat: the machine may have
slept, and a second process on the same files would be worse than a late one. The heartbeat decides
only where processes cannot be seen (another machine, a system without /proc and ps).
"""

import sqlite3
from contextlib import suppress
from pathlib import Path

from engine.jobs.process import end_group, reap
from engine.jobs.results import end_in_log
from engine.jobs.rows import job_from, job_rows, process_from
from engine.projects import ACTIVE, reading, writing
from engine.system import host_name, is_alive, now, seconds_since
from engine.text import InputError

STALE_SECONDS = 30.0  # a job without a heartbeat for so long is dead, if its process is unseen
TERMINATE_SECONDS = 10.0  # after a request to stop that was not followed
KILL_SECONDS = 20.0

INTERRUPTED = (
    "The process ended before it was done: it was killed, or the machine was restarted. Finished "
    "epochs are kept; Resume goes on from there."
)
CANCELLED = "Stopped. Finished epochs are kept; Resume goes on from there."


def settle(folder: Path) -> None:
    """Mark jobs whose process is gone as ended, and end processes that do not stop.

    This does not wait: a later call notices that a process has ended.
    """
    reap()
    with reading(folder) as db:
        rows = job_rows(db, f"WHERE state IN {ACTIVE}")
    gone = []
    for row in rows:
        if not is_running(row, folder):
            gone.append(row)
        elif row["state"] == "stopping":
            _hurry(row)
    if gone:
        # On a full or read-only disk a project can still be read; a later call writes.
        with suppress(InputError), writing(folder) as db:
            for row in gone:
                state, message = _end_of(row, folder)
                # Only if unchanged: the last thing the process did may be to write how it ended.
                db.execute(
                    "UPDATE jobs SET state = ?, message = ?, seconds_left = NULL, finished_at = ?"
                    " WHERE id = ? AND attempt = ? AND state = ?",
                    (state, message, now(), row["id"], row["attempt"], row["state"]),
                )


def is_running(row: sqlite3.Row, folder: Path) -> bool:
    """Return whether the process of an active job still works on it."""
    process = process_from(row)
    if process is None:  # being started
        return seconds_since(row["queued_at"]) < STALE_SECONDS
    if process.host == host_name() and row["place"] != str(folder.resolve()):
        return False  # the project was copied or moved; the process works on the original
    alive = is_alive(process)
    if alive is None:
        return seconds_since(row["heartbeat_at"] or row["queued_at"]) < STALE_SECONDS
    return alive


def _hurry(row: sqlite3.Row) -> None:
    process, waited = process_from(row), seconds_since(row["stop_at"])
    if process is not None and waited > TERMINATE_SECONDS:
        end_group(process, by_force=waited > KILL_SECONDS)


def _end_of(row: sqlite3.Row, folder: Path) -> tuple[str, str]:
    """How a job ended whose process is gone; on a full disk only its log could say so."""
    if (logged := end_in_log(job_from(row, folder))) is not None:
        return logged
    if row["state"] == "stopping":
        return "cancelled", CANCELLED
    return "interrupted", INTERRUPTED
