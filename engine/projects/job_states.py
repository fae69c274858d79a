"""The states of a project's jobs, and what the list of projects asks about them."""

import sqlite3

from engine.system import seconds_since

ACTIVE = ("queued", "running", "stopping")
_BEAT_SECONDS = 10.0  # a running job writes a heartbeat more often than this


def last_job(db: sqlite3.Connection) -> str:
    """Return the kind and state of the job that was started last; "" when there was none."""
    row = db.execute("SELECT kind, state FROM jobs ORDER BY rowid DESC LIMIT 1").fetchone()
    return f"{row[0]} {row[1]}" if row else ""


def has_live_job(db: sqlite3.Connection) -> bool:
    """Return whether a process was working on this project a moment ago."""
    beats = db.execute(f"SELECT heartbeat_at FROM jobs WHERE state IN {ACTIVE}").fetchall()
    return any(seconds_since(beat) < _BEAT_SECONDS for [beat] in beats)


def release_jobs(db: sqlite3.Connection) -> None:
    """Mark the active jobs of a copied project as interrupted: their processes use the original."""
    db.execute(f"UPDATE jobs SET state = 'interrupted', pid = 0 WHERE state IN {ACTIVE}")
