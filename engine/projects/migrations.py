"""Make a project's tables, and bring a project of an older Glossa to today's version.

A project's version (SQLite's `user_version`) counts the steps below that it has been through. A new
project takes all of them, an older one those that it lacks, in one transaction: all or none.
To change what a project stores, add a step at the end. Never change a step that was released.
"""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from engine.files import SourceFile
from engine.formats import FORMATS
from engine.projects.connection import (
    DATABASE,
    connected,
    copy_database,
    damaged,
    error_code,
    open_to_read,
    open_to_write,
)
from engine.run_folder import PREDICTIONS, write_predictions
from engine.settings import ReadOptions
from engine.text import InputError

_WAIT_SECONDS = 600  # for another process that migrates the same project
_CANNOT_WRITE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN)

_PROJECT_TABLES = """
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
# Version 1 made these when the first job was started, so some projects of it have them.
_JOB_TABLES = """
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    stage TEXT NOT NULL DEFAULT '',
    method TEXT NOT NULL DEFAULT '',
    share REAL NOT NULL DEFAULT 0,
    seconds_left REAL,
    message TEXT NOT NULL DEFAULT '',
    created_at TEXT NOT NULL,
    queued_at TEXT NOT NULL,
    started_at TEXT NOT NULL DEFAULT '',
    heartbeat_at TEXT NOT NULL DEFAULT '',
    stop_at TEXT NOT NULL DEFAULT '',
    finished_at TEXT NOT NULL DEFAULT '',
    turn INTEGER NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 1,
    pid INTEGER NOT NULL DEFAULT 0,
    began TEXT NOT NULL DEFAULT '',
    host TEXT NOT NULL DEFAULT '',
    place TEXT NOT NULL DEFAULT '',
    request TEXT NOT NULL,
    dictionary_version INTEGER NOT NULL,
    labels_key TEXT NOT NULL,
    text_key TEXT NOT NULL,
    match_preset TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS job_epochs (
    job TEXT NOT NULL,
    method TEXT NOT NULL,
    stage TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    epochs INTEGER NOT NULL,
    risk REAL,
    positive REAL,
    negative REAL,
    bounded REAL,
    seconds REAL,
    tokens_per_second REAL,
    at TEXT NOT NULL,
    PRIMARY KEY (job, method, stage, epoch)
);
CREATE TABLE IF NOT EXISTS job_points (
    job TEXT NOT NULL,
    fraction INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    method TEXT NOT NULL,
    point TEXT NOT NULL,
    PRIMARY KEY (job, fraction, seed, method)
);
CREATE TABLE IF NOT EXISTS job_cells (
    job TEXT NOT NULL,
    fraction INTEGER NOT NULL,
    method TEXT NOT NULL,
    seed INTEGER NOT NULL,
    state TEXT NOT NULL,
    message TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (job, fraction, method, seed)
);
CREATE TABLE IF NOT EXISTS job_facts (
    job TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (job, key)
);
CREATE TABLE IF NOT EXISTS job_speeds (
    job TEXT NOT NULL,
    machine TEXT NOT NULL,
    network TEXT NOT NULL,
    method TEXT NOT NULL,
    stage TEXT NOT NULL,
    tokens_per_second REAL NOT NULL,
    device TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (job, method, stage)
);
"""
# Who signed in and made a project, and whom they share it with. Empty: it belongs to everyone.
_MEMBERS_TABLE = """
CREATE TABLE members (address TEXT PRIMARY KEY, role TEXT NOT NULL)
"""
_TABLES_OF_VERSION_1 = frozenset(("facts", "files", "dictionary_versions", "choices", "decisions"))
TABLES = _TABLES_OF_VERSION_1 | {
    "jobs", "job_epochs", "job_points", "job_cells", "job_facts", "job_speeds", "members",
}  # fmt: skip


# ---- steps ----------------------------------------------------------------------------------


def _make_project_tables(db: sqlite3.Connection, folder: Path) -> None:
    _execute_all(db, _PROJECT_TABLES)


def _make_job_tables(db: sqlite3.Connection, folder: Path) -> None:
    _execute_all(db, _JOB_TABLES)


def _convert_predictions(db: sqlite3.Connection, folder: Path) -> None:
    """Write the predictions of runs, which were CSV files, as Parquet beside them.

    The CSV files stay until the migration is committed. One that cannot be read stays for good.
    """
    read = FORMATS["entities"].read
    assert read is not None
    for path in _csv_predictions(folder):
        try:
            corpus = read(SourceFile(path.name, path.read_bytes()), ReadOptions())
        except InputError:
            continue
        write_predictions(path.with_name(PREDICTIONS), corpus.entities)


def _make_members_table(db: sqlite3.Connection, folder: Path) -> None:
    _execute_all(db, _MEMBERS_TABLE)


_STEPS: tuple[Callable[[sqlite3.Connection, Path], None], ...] = (
    _make_project_tables,
    _make_job_tables,
    _convert_predictions,
    _make_members_table,
)
SCHEMA_VERSION = len(_STEPS)


# ---- running them ---------------------------------------------------------------------------


def take_steps(db: sqlite3.Connection, folder: Path, version: int = 0) -> None:
    """Bring a database of this version to today's, inside the caller's transaction."""
    for number, step in enumerate(_STEPS[version:], start=version + 1):
        step(db, folder)
        db.execute(f"PRAGMA user_version = {number}")


def is_current(folder: Path, db: sqlite3.Connection) -> bool:
    """Return whether the database has today's version; InputError when it is newer, or damaged."""
    version = _version(db)
    if version > SCHEMA_VERSION:
        raise InputError(
            f"this project was made by a newer Glossa (project version {version}; this Glossa "
            f"reads {SCHEMA_VERSION}). Update Glossa to open it"
        )
    if version < 1:
        raise InputError(damaged(folder))
    return version == SCHEMA_VERSION


def migrate(folder: Path) -> None:
    """Bring an older project to today's version, all or nothing; other openers wait meanwhile.

    A copy of the database (project.db.v1) stays beside it until the migration is committed.
    """
    try:
        with connected(folder, open_to_write) as db:
            db.execute(f"PRAGMA busy_timeout = {1_000 * _WAIT_SECONDS}")
            db.execute("BEGIN IMMEDIATE")
            try:
                if not is_current(folder, db):  # else another process was faster
                    _check_tables(folder, db)
                    _back_up(folder, _version(db))
                    take_steps(db, folder, _version(db))
                db.commit()
            except BaseException:
                db.rollback()
                raise
    except sqlite3.Error as error:
        raise InputError(f"{damaged(folder)} ({error})") from error
    except InputError as error:
        cause = error.__cause__
        if isinstance(cause, sqlite3.Error) and error_code(cause) in _CANNOT_WRITE:
            raise InputError(
                f"this project was made by an older Glossa and has to be updated once, but {folder}"
                " cannot be written. Check who owns the folder, or copy it elsewhere"
            ) from error
        raise
    _clean_up(folder)


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _check_tables(folder: Path, db: sqlite3.Connection) -> None:
    """Raise InputError for a database that is no project of version 1, whatever number it bears."""
    names = {name for [name] in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not names >= _TABLES_OF_VERSION_1:
        raise InputError(damaged(folder))


def _back_up(folder: Path, version: int) -> None:
    # By a connection of its own: SQLite does not copy through one that is about to write.
    with connected(folder, open_to_read) as db:
        copy_database(db, folder / f"{DATABASE}.v{version}")


def _clean_up(folder: Path) -> None:
    """Delete what the committed migration has replaced."""
    for version in range(1, SCHEMA_VERSION):
        (folder / f"{DATABASE}.v{version}").unlink(missing_ok=True)
    for path in _csv_predictions(folder):
        if path.with_name(PREDICTIONS).exists():
            path.unlink(missing_ok=True)


def _csv_predictions(folder: Path) -> Iterator[Path]:
    """The predictions of train and predict jobs as version 1 kept them."""
    for pattern in ("runs/*/predictions.csv", "runs/*/*/predictions.csv"):
        for path in sorted(folder.glob(pattern)):
            if path.is_file() and not path.is_symlink():
                yield path


def _execute_all(db: sqlite3.Connection, script: str) -> None:
    """Run statements one by one: `executescript` would commit the transaction."""
    for statement in script.split(";\n"):
        db.execute(statement)
