"""A project's SQLite file: its tables, short transactions, and small facts."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from engine.project_connection import (
    connected,
    damaged,
    open_new,
    open_to_read,
    open_to_write,
)
from engine.text import InputError

SCHEMA_VERSION = 1
_ACTIVE = ("queued", "running", "stopping")  # states of jobs
_BEAT_SECONDS = 10.0  # a job at work writes a heartbeat more often than this


# Tables of jobs are made by `jobs`, in the same file.
_SCHEMA = """
CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE files (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    unit TEXT NOT NULL,
    name TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    options TEXT NOT NULL,
    renamed TEXT NOT NULL DEFAULT '{}',
    documents INTEGER NOT NULL DEFAULT 0,
    sentences INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL DEFAULT 0,
    added_at TEXT NOT NULL
);
CREATE TABLE dictionary_versions (
    version INTEGER PRIMARY KEY,
    saved_at TEXT NOT NULL,
    reason TEXT NOT NULL,
    dictionaries INTEGER NOT NULL,
    phrases INTEGER NOT NULL,
    key TEXT NOT NULL,
    sha256 TEXT NOT NULL
);
CREATE TABLE choices (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    document_id TEXT NOT NULL,
    "start" INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    entity_type TEXT NOT NULL,
    verdict TEXT NOT NULL,
    new_start INTEGER,
    new_end INTEGER,
    new_type TEXT,
    source TEXT NOT NULL DEFAULT '',
    queue TEXT NOT NULL DEFAULT '',
    surface TEXT NOT NULL DEFAULT '',
    decided_at TEXT NOT NULL,
    undoes INTEGER
);
CREATE INDEX decisions_by_place
    ON decisions (kind, document_id, "start", "end", entity_type, id);
CREATE INDEX decisions_undone ON decisions (undoes) WHERE undoes IS NOT NULL;
"""
_TABLES = frozenset(("facts", "files", "dictionary_versions", "choices", "decisions"))


def make_store(folder: Path, name: str) -> None:
    """Make the database of a new project in a folder that has none."""
    with connected(folder, open_new) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA.split(";\n"):
            db.execute(statement)
        set_fact(db, "name", name)
        touch(db)
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        db.commit()


@contextmanager
def reading(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open the database to look at; rows are `sqlite3.Row`, all of one moment."""
    with connected(folder, open_to_read) as db:
        _check_schema(folder, db)
        yield db


@contextmanager
def writing(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open the database to change it: all of the block is stored and on disk, or nothing.

    One writer at a time; others wait. Keep the block short, and compute before it.
    """
    with connected(folder, open_to_write) as db:
        _check_schema(folder, db)
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.commit()
        except BaseException:
            db.rollback()
            raise


def check_store(folder: Path) -> None:
    """Raise InputError unless the database is whole, and a project's that is understood here."""
    with reading(folder) as db:
        found = db.execute("SELECT type, name FROM sqlite_master").fetchall()
        tables = {name for type, name in found if type == "table"}
        # Ours has only tables and indexes; anything else would act on its own.
        is_plain = {type for type, _ in found} <= {"table", "index"}
        is_whole = db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
        if not (tables >= _TABLES and is_plain and is_whole):
            raise InputError(damaged(folder))


def copy_store(folder: Path, target: Path) -> None:
    """Write the database as one file, as it is at this moment, whoever else is writing."""
    with reading(folder) as db:
        copy = sqlite3.connect(target)
        try:
            db.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
        finally:
            copy.close()


def _check_schema(folder: Path, db: sqlite3.Connection) -> None:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise InputError(
            f"this project was made by a newer Glossa (project version {version}; this Glossa "
            f"reads {SCHEMA_VERSION}). Update Glossa to open it"
        )
    if version < 1:
        raise InputError(damaged(folder))


def now() -> str:
    """Return this moment as it is stored: ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def moment(stored: str) -> datetime:
    """Return a stored moment; one that cannot be read is the beginning of time, not a fault."""
    try:
        return datetime.fromisoformat(stored).astimezone(UTC)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)


def fact(db: sqlite3.Connection, key: str, default: str = "") -> str:
    """Return what the project stores about itself under `key`."""
    row = db.execute("SELECT value FROM facts WHERE key = ?", (key,)).fetchone()
    return default if row is None else str(row[0])


def set_fact(db: sqlite3.Connection, key: str, value: str) -> None:
    """Store what the project knows about itself."""
    db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (key, value))


def touch(db: sqlite3.Connection) -> None:
    """Note that the project was changed now."""
    set_fact(db, "modified", now())


def choice(db: sqlite3.Connection, key: str, default: Any = None) -> Any:
    """Return a remembered choice."""
    row = db.execute("SELECT value FROM choices WHERE key = ?", (key,)).fetchone()
    return default if row is None else json.loads(row[0])


def set_choice(db: sqlite3.Connection, key: str, value: Any) -> None:
    """Remember a choice; any JSON value."""
    db.execute("INSERT OR REPLACE INTO choices VALUES (?, ?)", (key, json.dumps(value)))


# ---- rows of jobs ---------------------------------------------------------------------------


def last_job(db: sqlite3.Connection) -> str:
    """Return the kind and state of the job that was started last; "" when there was none."""
    rows = _job_rows(
        db, "SELECT kind, state FROM jobs ORDER BY created_at DESC, rowid DESC LIMIT 1"
    )
    return f"{rows[0][0]} {rows[0][1]}" if rows else ""


def has_live_job(db: sqlite3.Connection) -> bool:
    """Return whether a process was at work on this project a moment ago."""
    beats = _job_rows(db, f"SELECT heartbeat_at FROM jobs WHERE state IN {_ACTIVE}")
    return any(
        (datetime.now(UTC) - moment(beat)).total_seconds() < _BEAT_SECONDS for [beat] in beats
    )


def release_jobs(db: sqlite3.Connection) -> None:
    """Let go of processes in a copied database: they work on the original, or elsewhere."""
    _job_rows(db, f"UPDATE jobs SET state = 'interrupted', pid = 0 WHERE state IN {_ACTIVE}")


def _job_rows(db: sqlite3.Connection, statement: str) -> list[sqlite3.Row]:
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'jobs'").fetchone():
        return []
    return db.execute(statement).fetchall()
