"""Connect to a project's SQLite file, and explain each fault in one sentence."""

import json
import os
import shutil
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from engine.text import InputError

DATABASE = "project.db"
DatabaseState = tuple[tuple[int, int, int], ...]
_SETTLED_SECONDS = 0.1
_ODD = (  # how SQLite words what is wrong with the tables of a damaged or foreign database
    "Could not decode to UTF-8", "no such table", "no such column", "unsupported file format",
    "table ",  # has other columns
)  # fmt: skip
_BUSY_SECONDS = 15.0  # a writer waits this long for another one
_NO_ROOM_TO_READ = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_SHARED_MEMORY = 32_768  # bytes of the file beside a database that is open


_Place = tuple[Path, int, int]  # of a database: its path, and which file it was there
_resting: ContextVar[dict[_Place, sqlite3.Connection] | None] = ContextVar("resting", default=None)


@contextmanager
def kept_connections() -> Iterator[None]:
    """Let this block read each project through one connection, which is closed at its end.

    Opening a database takes longer than most of what is asked of it, and a page asks often. Each
    reading still sees the database as it is at that moment.
    """
    if _resting.get() is not None:  # an outer block keeps them
        yield
        return
    resting: dict[_Place, sqlite3.Connection] = {}
    token = _resting.set(resting)
    try:
        yield
    finally:
        _resting.reset(token)
        for db in resting.values():
            db.close()


@contextmanager
def connected(
    folder: Path, connect: Callable[[Path], sqlite3.Connection]
) -> Iterator[sqlite3.Connection]:
    """Open a project's database by one of the functions below; faults become one sentence."""
    path = folder / DATABASE
    place = _place(path)
    if connect is not open_new and place is None:
        raise InputError(f"{folder} holds no project ({DATABASE} is missing)")
    resting = _resting.get() if connect is open_to_read else None
    try:
        db = _woken(resting, place) or connect(path)
        try:
            yield db
            if resting is not None and place is not None and place not in resting:
                db.rollback()  # it only read; the next reading begins anew
                db.text_factory = str  # whatever this reader took text for
                resting[place] = db
        finally:
            if resting is None or place is None or resting.get(place) is not db:
                db.close()
    except sqlite3.Error as error:
        if message := _explained(folder, error):
            raise InputError(message) from error
        raise


def _place(path: Path) -> _Place | None:
    """Where a database is; None if there is none, or a link."""
    try:
        about = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return (path, about.st_dev, about.st_ino) if stat.S_ISREG(about.st_mode) else None


def _woken(
    resting: dict[_Place, sqlite3.Connection] | None, place: _Place | None
) -> sqlite3.Connection | None:
    """The connection that rests for this file, reading it as it is now; None if there is none."""
    db = resting.pop(place, None) if resting is not None and place is not None else None
    if db is not None:
        with suppress(sqlite3.Error):  # a new connection says what is wrong
            return _begun(db)
    return None


def database_state(folder: Path) -> DatabaseState | None:
    """Return what changes whenever the database does; None if that cannot be told now."""
    try:
        about = os.lstat(folder / DATABASE)
    except OSError:
        return None
    files = [about]
    with suppress(OSError):
        log = os.lstat(folder / f"{DATABASE}-wal")
        files += [log] if log.st_size else []  # readers make and delete an empty one
    # The clock of files is coarse: a second change in the same moment could not be seen.
    if max(file.st_ctime for file in files) > time.time() - _SETTLED_SECONDS:
        return None
    return tuple((file.st_ino, file.st_size, file.st_ctime_ns) for file in files)


def open_new(path: Path) -> sqlite3.Connection:
    """Make a new database."""
    return _open(path, "mode=rwc")


def open_to_write(path: Path) -> sqlite3.Connection:
    """Open an existing database to change it; the caller begins the transaction."""
    return _open(path, "mode=rw")


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open an existing database and read it as it is at this moment."""
    try:
        return _begun(_open(path, "mode=rw"))
    except sqlite3.OperationalError as error:
        log = path.with_name(f"{DATABASE}-wal")
        if error_code(error) not in _NO_ROOM_TO_READ or (log.exists() and log.stat().st_size):
            raise
    # A reader needs a small file beside the database, for which a full or read-only disk has no
    # room. Where nobody can write, the database can be read without it.
    return _begun(_open(path, "mode=ro&immutable=1"))


def _begun(db: sqlite3.Connection) -> sqlite3.Connection:
    """The connection, in a transaction that sees the database as it is now."""
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
        # Changes are on disk before the screen says so, and a stranger's file runs no code.
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA trusted_schema = OFF")
    except UnicodeDecodeError as error:  # SQLite quotes damaged bytes in its message
        db.close()
        raise sqlite3.DatabaseError(f"{_ODD[0]}: the names of the tables") from error
    except BaseException:
        db.close()
        raise
    return db


def copy_database(db: sqlite3.Connection, target: Path) -> None:
    """Write all that a connection sees as one file, without a log beside it."""
    copy = sqlite3.connect(target)
    try:
        db.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
    finally:
        copy.close()


def damaged(folder: Path) -> str:
    """Return the message for a database that is not what it should be: what is kept, what lost."""
    copies = sorted(folder.glob(f"{DATABASE}.v*"))  # of a migration that was interrupted
    way_out = (
        f"Rename {copies[-1].name} beside it to {DATABASE}: it is the copy from before an update"
        if copies
        else "Put back a backup of this folder, or import the zip that you downloaded last: later "
        "decisions and runs are lost, your files in text/ and dictionaries/ are not"
    )
    return f"{folder.name}/{DATABASE} is damaged or no project of Glossa. {way_out}"


def parsed(stored: str, what: str) -> Any:
    """Return stored JSON; InputError when it cannot be read, `what` names its place."""
    try:
        return json.loads(stored)
    except (ValueError, TypeError, RecursionError):
        raise wrong_value(what) from None


def checked_row(
    row: sqlite3.Row, kinds: Mapping[str, type | tuple[type, ...]], what: str
) -> dict[str, Any]:
    """Return these columns of a row; InputError if one is missing or of another kind."""
    names = row.keys()
    for name, kind in kinds.items():
        if name not in names or not isinstance(row[name], kind):
            raise wrong_value(f"{name} of {what}")
    return {name: row[name] for name in kinds}


def wrong_value(what: str) -> InputError:
    """Return the error for a value in the database that is not as it was written."""
    return InputError(
        f"{DATABASE} of this project is damaged: {what} cannot be read. Put back a backup of the "
        "project's folder, or import the zip that you downloaded last; your text is not lost"
    )


def _explained(folder: Path, error: sqlite3.Error) -> str:
    """The fault as one sentence, if a person can do something about it."""
    code = error_code(error)
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
    is_odd = str(error).startswith(_ODD)  # without a code, or with that of any wrong statement
    if is_odd or code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return f"{damaged(folder)} ({str(error).splitlines()[0][:60]})"
    return ""


def error_code(error: sqlite3.Error) -> int:
    """Return SQLite's primary code of an error; the extended one has more bits."""
    return (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def _is_full(folder: Path) -> bool:
    """Without room for its shared memory, SQLite reports an I/O error, not a full disk."""
    try:
        return shutil.disk_usage(folder).free < _SHARED_MEMORY
    except OSError:
        return False
