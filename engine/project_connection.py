"""Connections to a project's SQLite file, and one sentence for each fault."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.text import InputError

DATABASE = "project.db"
_BUSY_SECONDS = 15.0  # a writer waits this long for another one
_NO_ROOM_TO_READ = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_SHARED_MEMORY = 32_768  # bytes of the file beside a database that is open


@contextmanager
def connected(
    folder: Path, connect: Callable[[Path], sqlite3.Connection]
) -> Iterator[sqlite3.Connection]:
    """Open the database of a project by one of the functions below; a fault is one sentence."""
    path = folder / DATABASE
    if connect is not open_new and (path.is_symlink() or not path.is_file()):
        raise InputError(f"{folder} holds no project ({DATABASE} is missing)")
    try:
        db = connect(path)
        try:
            yield db
        finally:
            db.close()
    except sqlite3.Error as error:
        if message := _explained(folder, error):
            raise InputError(message) from error
        raise


def open_new(path: Path) -> sqlite3.Connection:
    """Make a database."""
    return _open(path, "mode=rwc")


def open_to_write(path: Path) -> sqlite3.Connection:
    """Open a database that is there; whoever changes it begins a transaction."""
    return _open(path, "mode=rw")


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open a database that is there and look at it as it is at this moment."""
    try:
        return _begun(_open(path, "mode=rw"))
    except sqlite3.OperationalError as error:
        log = path.with_name(f"{DATABASE}-wal")
        if _code(error) not in _NO_ROOM_TO_READ or (log.exists() and log.stat().st_size):
            raise
    # A reader needs a small file beside the database, for which a full or a read-only disk has no
    # room. Where nobody can write, it can be read without.
    return _begun(_open(path, "mode=ro&immutable=1"))


def _begun(db: sqlite3.Connection) -> sqlite3.Connection:
    """The connection, looking at one moment of the database."""
    try:
        db.execute("BEGIN")
        db.execute("PRAGMA user_version").fetchone()
    except BaseException:
        db.close()
        raise
    return db


def _open(path: Path, query: str) -> sqlite3.Connection:
    db = sqlite3.connect(
        f"{path.absolute().as_uri()}?{query}",
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    db.row_factory = sqlite3.Row
    try:
        # On disk before the screen says so; and a file from elsewhere runs no code of its own.
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA trusted_schema = OFF")
    except BaseException:
        db.close()
        raise
    return db


def damaged(folder: Path) -> str:
    """Return what to tell when a database is not what it should be."""
    return (
        f"{folder.name}/{DATABASE} is damaged or no project of Glossa. "
        "Import the project's zip again, or delete it"
    )


def _explained(folder: Path, error: sqlite3.Error) -> str:
    """The fault as one sentence, if a person can do something about it."""
    code = _code(error)
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _is_full(folder)):
        return (
            f"no room left on the disk for {folder}; nothing was stored. "
            "Delete old runs or projects, or enlarge the disk"
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return (
            f"another process has been writing to this project for {_BUSY_SECONDS:.0f} seconds; "
            "nothing was stored. Try again in a moment"
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN):
        return f"{folder} cannot be written: {error}. Check who owns the folder"
    if code == sqlite3.SQLITE_IOERR:
        return (
            f"{folder / DATABASE} could not be read or written ({error}). "
            "Is the disk full, or a network drive that went away?"
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return f"{damaged(folder)} ({error})"
    return ""


def _code(error: sqlite3.Error) -> int:
    """The primary code; the extended one has more bits."""
    return (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def _is_full(folder: Path) -> bool:
    """Without room for its shared memory, SQLite speaks of an I/O error."""
    try:
        return shutil.disk_usage(folder).free < _SHARED_MEMORY
    except OSError:
        return False
