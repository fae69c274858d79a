"""Read and change a project's SQLite file in short transactions; store facts and choices."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine.projects.connection import (
    connected,
    copy_database,
    damaged,
    open_new,
    open_to_read,
    open_to_write,
    parsed,
)
from engine.projects.migrations import TABLES, is_current, migrate, take_steps
from engine.settings import DEFAULT_MATCH_PRESET
from engine.system import now
from engine.text import InputError

LANGUAGE = "language"  # a choice; without it, the text is English or not known to be otherwise
MATCH_PRESET = "match_preset"  # a choice, stored from the start: the default may change


def make_store(folder: Path, name: str) -> None:
    """Make the database of a new project in a folder that has none."""
    with connected(folder, open_new) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("BEGIN IMMEDIATE")
        take_steps(db, folder)
        set_fact(db, "name", name)
        set_choice(db, MATCH_PRESET, DEFAULT_MATCH_PRESET)
        touch(db)
        db.commit()


@contextmanager
def reading(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open the database to read; rows are `sqlite3.Row`, all of one moment."""
    with _opened(folder, open_to_read) as db:
        yield db


@contextmanager
def writing(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open the database to change it: all of the block is stored and on disk, or nothing.

    One writer at a time; others wait. Keep the block short, and compute before it.
    """
    with _opened(folder, open_to_write) as db:
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.commit()
        except BaseException:
            db.rollback()
            raise


@contextmanager
def _opened(
    folder: Path, connect: Callable[[Path], sqlite3.Connection]
) -> Iterator[sqlite3.Connection]:
    """Open a project's database; one of an older Glossa is brought to today's version first."""
    with connected(folder, connect) as db:
        if is_current(folder, db):
            yield db
            return
    migrate(folder)
    with connected(folder, connect) as db:
        if not is_current(folder, db):
            raise InputError(damaged(folder))
        yield db


def check_store(folder: Path) -> None:
    """Raise InputError unless the database is whole, and that of a project this code can read."""
    with reading(folder) as db:
        entries = db.execute("SELECT type, name FROM sqlite_master").fetchall()
        tables = {name for type, name in entries if type == "table"}
        # Ours has only tables and indexes; anything else would act on its own.
        is_plain = {type for type, _ in entries} <= {"table", "index"}
        is_whole = db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
        if not (tables >= TABLES and is_plain and is_whole):
            raise InputError(damaged(folder))


def copy_store(folder: Path, target: Path) -> None:
    """Write the database as one file, as it is at this moment, whoever else is writing."""
    with reading(folder) as db:
        copy_database(db, target)


def fact(db: sqlite3.Connection, key: str, default: str = "") -> str:
    """Return what the project stores about itself under `key`."""
    row = db.execute("SELECT value FROM facts WHERE key = ?", (key,)).fetchone()
    return default if row is None else str(row[0])


def set_fact(db: sqlite3.Connection, key: str, value: str) -> None:
    """Store something about the project."""
    db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (key, value))


def touch(db: sqlite3.Connection) -> None:
    """Note that the project was changed now."""
    set_fact(db, "modified", now())


def choice(db: sqlite3.Connection, key: str, default: Any = None) -> Any:
    """Return a remembered choice."""
    row = db.execute("SELECT value FROM choices WHERE key = ?", (key,)).fetchone()
    return default if row is None else parsed(row[0], f'the choice "{key}"')


def set_choice(db: sqlite3.Connection, key: str, value: Any) -> None:
    """Remember a choice; any JSON value."""
    db.execute("INSERT OR REPLACE INTO choices VALUES (?, ?)", (key, json.dumps(value)))
