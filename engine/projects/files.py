"""Keep a project's own copies of the files given to it, byte for byte, and records about them.

A file is copied first, and then a row names it. A process that is killed in between leaves the
project as it was, and a file that `sweep` deletes later.
"""

import hashlib
import json
import os
import re
import shutil
import sqlite3
import time
import unicodedata
import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from engine.files import (
    GivenFile,
    path_source,
    read_blocks,
    read_whole,
    refuse_large,
    write_error,
    written_whole,
)
from engine.projects.connection import checked_row, parsed, wrong_value
from engine.projects.store import set_fact, touch
from engine.settings import LIMITS, NO_LIMITS, Limits, ReadOptions
from engine.system import moment, now
from engine.text import Corpus, InputError

TEXT, GOLD = "text", "gold"  # roles of files, and the names of their folders
CACHE = "cache"
DICTIONARIES = "dictionaries"
RUNS = "runs"  # one folder per job
# Files given at the command line may be larger than an upload, and archives unpack to as much.
IMPORT_LIMITS = replace(
    LIMITS,
    file_mb=LIMITS.import_mb,
    zip_unpacked_mb=max(LIMITS.import_mb, LIMITS.zip_unpacked_mb),
)
_ID = re.compile("[0-9a-f]{12}")
_FOLDERS = re.compile(r"[/\\]")
_OPTIONS = frozenset(field.name for field in fields(ReadOptions))
_KINDS: dict[str, type] = {
    "id": str, "name": str, "bytes": int, "added_at": str, "options": str, "documents": int,
    "sentences": int, "tokens": int, "role": str, "unit": str, "sha256": str, "renamed": str,
}  # fmt: skip
_MANY = 20  # files; more are synced together, not one by one
_LEFTOVER_SECONDS = 24 * 3600  # nobody takes longer to read a file that was copied


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file as the project keeps it."""

    id: str
    name: str  # as given, without folders and control characters
    bytes: int
    added_at: datetime
    options: ReadOptions
    documents: int
    sentences: int
    tokens: int
    role: str = TEXT
    unit: str = ""  # "batch-number"; shared by files that are read together: a .txt and its .ann
    sha256: str = ""
    renamed: tuple[tuple[str, str], ...] = ()  # ids other files used: (in the file, here)

    @property
    def batch(self) -> str:
        """The name shared by files that were added together."""
        return self.unit.partition("-")[0]

    @property
    def path(self) -> str:
        """The place of its bytes inside the project's folder."""
        return f"{self.role}/{self.id}-{safe_name(self.name)}"


# ---- names ----------------------------------------------------------------------------------


def clean_name(name: str) -> str:
    """Return a file's name without folders and characters that cannot be shown.

    >>> clean_name("C:\\\\notes\\\\day\\x00 1.txt"), clean_name("")
    ('day 1.txt', 'file')
    """
    last = _FOLDERS.split(name)[-1]
    stem, dot, extension = "".join(c for c in last if c.isprintable()).strip().rpartition(".")
    return f"{stem[:180]}{dot}{extension[:20]}" if dot else extension[:200] or "file"


def safe_name(name: str) -> str:
    """Return a readable name that any file system accepts.

    >>> safe_name("../../étude <1>.TXT"), safe_name("..")
    ('etude_1.TXT', 'file')
    """
    plain = unicodedata.normalize("NFKD", clean_name(name)).encode("ascii", "ignore").decode()
    stem, _, extension = re.sub("[^A-Za-z0-9.-]+", "_", plain).rpartition(".")
    parts = [part.strip("._-") for part in (stem[:60], extension[:20])]
    return ".".join(part for part in parts if part) or "file"


# ---- from given files to stored ones --------------------------------------------------------


def checked(files: Sequence[GivenFile]) -> list[GivenFile]:
    """Return the files under clean names; InputError if there is none, or one is too large."""
    if not files:
        raise InputError("no files were given")
    for file in files:
        refuse_large(file.name, file.size, file.limits)
    return [replace(file, name=clean_name(file.name)) for file in files]


def store_files(
    folder: Path, files: Sequence[GivenFile], unit: str, role: str, options: ReadOptions
) -> list[StoredFile]:
    """Copy files that are read together into the project, and return their records.

    They are copied in blocks and hashed on the way, so that a large one is never held in memory.
    The caller syncs the copies (`sync`) before a row names them.
    """
    added_at = moment(now())
    stored: list[StoredFile] = []
    for file in files:
        id = uuid.uuid4().hex[:12]
        record = StoredFile(id, file.name, 0, added_at, options, 0, 0, 0, role, unit)
        digest, size = hashlib.sha256(), 0
        try:
            with written_whole(folder / record.path, is_synced=False) as out:
                for block in read_blocks(file):
                    out.write(block)
                    digest.update(block)
                    size += len(block)
        except InputError:
            remove_bytes(folder, stored)
            raise
        stored.append(replace(record, bytes=size, sha256=digest.hexdigest()))
    return stored


def sync(folder: Path, stored: Sequence[StoredFile]) -> None:
    """Return when the copies are on disk, so that a power failure cannot lose them."""
    if len(stored) > _MANY and hasattr(os, "sync"):
        os.sync()
        return
    for record in stored:
        path = folder / record.path
        try:
            with open(path, "rb+") as copy:
                os.fsync(copy.fileno())
        except OSError as error:
            raise write_error(path, error) from error


def with_counts(stored: Sequence[StoredFile], corpus: Corpus) -> list[StoredFile]:
    """Return the records of files that are read together; the first carries their counts."""
    first, *others = stored
    counted = replace(
        first,
        documents=len(corpus.documents),
        sentences=sum(len(document.sentences) for document in corpus.documents),
        tokens=sum(document.token_count for document in corpus.documents),
    )
    return [counted, *others]


def new_batch() -> str:
    """Return a name for files that are added together."""
    return uuid.uuid4().hex[:12]


# ---- bytes ----------------------------------------------------------------------------------


def load_source(folder: Path, record: StoredFile, limits: Limits = NO_LIMITS) -> GivenFile:
    """Return a stored file under its own name; one too large for an upload stays on disk.

    A file that the project has was within the limits once, whatever they are now.
    """
    source = path_source(folder / record.path, limits, record.name)
    return read_whole(source) if source.size <= LIMITS.file_mb * 1_000_000 else source


def remove_bytes(folder: Path, gone: Iterable[StoredFile]) -> None:
    """Delete files that no row names; one that cannot be deleted only takes up space."""
    for record in gone:
        with suppress(OSError):
            (folder / record.path).unlink()


def sweep(folder: Path, kept: set[Path]) -> None:
    """Delete old files of text, gold and cache that are not in `kept`: a killed process left them.

    Recent ones stay, since another process may be about to name them.
    """
    too_young = time.time() - _LEFTOVER_SECONDS
    for name in (TEXT, GOLD, CACHE):
        for path in (folder / name).glob("*"):
            with suppress(OSError):
                if path not in kept and path.stat().st_mtime < too_young:
                    if path.is_dir():  # what a reader process was given
                        shutil.rmtree(path)
                    else:
                        path.unlink()


def is_file_id(value: object) -> bool:
    """Return whether this can be the id of a stored file, which becomes part of a path."""
    return isinstance(value, str) and bool(_ID.fullmatch(value))


# ---- rows -----------------------------------------------------------------------------------


def records(db: sqlite3.Connection, role: str) -> list[StoredFile]:
    """Return the files of a role, in the order they were added."""
    rows = db.execute("SELECT * FROM files WHERE role = ? ORDER BY position", (role,))
    return [_from_row(row) for row in rows]


def insert_records(db: sqlite3.Connection, added: Sequence[StoredFile]) -> None:
    """Add rows for files whose bytes are in place."""
    db.executemany(
        "INSERT INTO files (id, role, unit, name, bytes, sha256, options, renamed, documents, "
        "sentences, tokens, added_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                record.id, record.role, record.unit, record.name, record.bytes, record.sha256,
                _options_json(record.options), json.dumps(dict(record.renamed)),
                record.documents, record.sentences, record.tokens, record.added_at.isoformat(),
            )
            for record in added
        ],
    )  # fmt: skip


def change_options(db: sqlite3.Connection, role: str, **changes: Any) -> None:
    """Change how the files of a role are read."""
    rows = [
        (_options_json(replace(file.options, **changes)), file.id) for file in records(db, role)
    ]
    db.executemany("UPDATE files SET options = ? WHERE id = ?", rows)


def change_counts(db: sqlite3.Connection, counted: Sequence[StoredFile]) -> None:
    """Store how many sentences and tokens files have when they are read in another way."""
    rows = [(file.sentences, file.tokens, file.id) for file in counted]
    db.executemany("UPDATE files SET sentences = ?, tokens = ? WHERE id = ?", rows)


def delete_records(db: sqlite3.Connection, gone: Sequence[StoredFile]) -> None:
    """Delete the rows of these files."""
    db.executemany("DELETE FROM files WHERE id = ?", [(record.id,) for record in gone])


def note_change(db: sqlite3.Connection, role: str) -> None:
    """Store the key of a role's files, so that reading it costs nothing."""
    set_fact(db, f"{role}_key", content_key(records(db, role)))
    touch(db)


def content_key(files: Iterable[StoredFile]) -> str:
    """Return a hash of everything that decides what is read from the files; "" for no files."""
    units: dict[str, list[object]] = {}
    for file in files:
        about = (file.name, file.sha256, _options_json(file.options), file.renamed)
        units.setdefault(file.unit, []).append(about)
    parts = ascii(list(units.values())).encode()
    return hashlib.sha256(parts).hexdigest()[:16] if units else ""


def _from_row(row: sqlite3.Row) -> StoredFile:
    values = checked_row(row, _KINDS, "a file")
    # The database may come from somebody else's zip, and these become a path.
    if not is_file_id(values["id"]) or values["role"] not in (TEXT, GOLD):
        raise InputError(f'the project names a file "{row["role"]}/{row["id"]}" that cannot be')
    renamed = _object(values["renamed"])
    if not all(isinstance(new, str) for new in renamed.values()):
        raise wrong_value("renamed of a file")
    values["renamed"] = tuple(sorted(renamed.items()))
    values["options"] = _options(values["options"])
    return StoredFile(**{**values, "added_at": moment(values["added_at"])})


def _object(stored: str) -> dict[str, Any]:
    what = "how a file is read"
    value = parsed(stored, what)
    if not isinstance(value, dict):
        raise wrong_value(what)
    return value


# Cached: thousands of files share the same few options.
@lru_cache(maxsize=64)
def _options_json(options: ReadOptions) -> str:
    values = asdict(options)
    if options.language is None:  # a hash from before this option stays the same
        del values["language"]
    return json.dumps(values, sort_keys=True)


@lru_cache(maxsize=64)
def _options(stored: str) -> ReadOptions:
    values = {name: value for name, value in _object(stored).items() if name in _OPTIONS}
    try:
        return ReadOptions(**values)
    except ValueError as error:
        raise wrong_value(f"how a file is read ({error})") from None
