"""A project's own copies of uploaded files, byte for byte, and what is known about them.

Bytes are written under a name that nothing refers to yet, then a row names them: a process that
is killed in between leaves a file that `sweep` deletes later, and the project as it was.
"""

import hashlib
import json
import os
import re
import sqlite3
import time
import unicodedata
import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from engine.files import SourceFile, read_source, written_whole
from engine.moments import moment, now
from engine.project_store import set_fact, touch
from engine.settings import LIMITS, ReadOptions
from engine.text import Corpus, InputError

TEXT, GOLD = "text", "gold"  # roles, and the folders they are kept in
CACHE = "cache"
_ID = re.compile("[0-9a-f]{12}")
_FOLDERS = re.compile(r"[/\\]")
_OPTIONS = frozenset(field.name for field in fields(ReadOptions))
_MANY = 20  # files; more are brought to the disk together, not one by one
_LEFTOVER_SECONDS = 3600  # nobody takes longer between writing a file and naming it


@dataclass(frozen=True, slots=True)
class StoredFile:
    """An uploaded file as the project keeps it."""

    id: str
    name: str  # as uploaded, folders and control characters taken off
    bytes: int
    added_at: datetime
    options: ReadOptions
    documents: int
    sentences: int
    tokens: int
    role: str = TEXT
    unit: str = ""  # "batch-number"; files that are read together share it: a .txt and its .ann
    sha256: str = ""
    renamed: tuple[tuple[str, str], ...] = ()  # ids that other files had: (in the file, here)

    @property
    def batch(self) -> str:
        """Files that were added together share it."""
        return self.unit.partition("-")[0]

    @property
    def path(self) -> str:
        """Where its bytes are, inside the project's folder."""
        return f"{self.role}/{self.id}-{safe_name(self.name)}"


# ---- names ----------------------------------------------------------------------------------


def clean_name(name: str) -> str:
    """Return a file's name without its folders and without what cannot be shown.

    >>> clean_name("C:\\\\notes\\\\day\\x00 1.txt"), clean_name("")
    ('day 1.txt', 'file')
    """
    last = _FOLDERS.split(name)[-1]
    stem, dot, extension = "".join(c for c in last if c.isprintable()).strip().rpartition(".")
    return f"{stem[:180]}{dot}{extension[:20]}" if dot else extension[:200] or "file"


def safe_name(name: str) -> str:
    """Return a name that any file system takes and that still tells what the file is.

    >>> safe_name("../../étude <1>.TXT"), safe_name("..")
    ('etude_1.TXT', 'file')
    """
    plain = unicodedata.normalize("NFKD", clean_name(name)).encode("ascii", "ignore").decode()
    stem, _, extension = re.sub("[^A-Za-z0-9.-]+", "_", plain).rpartition(".")
    parts = [part.strip("._-") for part in (stem[:60], extension[:20])]
    return ".".join(part for part in parts if part) or "file"


# ---- from uploads to records ----------------------------------------------------------------


def checked(files: Sequence[SourceFile]) -> list[SourceFile]:
    """Return the files under clean names; InputError for none, or for one over the limit."""
    if not files:
        raise InputError("no files were given")
    for file in files:
        if len(file.data) > LIMITS.file_mb * 1_000_000:
            raise InputError(
                f"{file.name} is {len(file.data) / 1e6:,.0f} MB; the limit is {LIMITS.file_mb} MB "
                "a file. Split it into smaller files"
            )
    return [SourceFile(clean_name(file.name), file.data) for file in files]


def units_of(files: Sequence[SourceFile]) -> list[list[SourceFile]]:
    """Return the files by what is read together: a .ann with its .txt, any other file alone."""
    stems = {file.stem for file in files if file.extension == ".ann"}
    pairs: dict[str, list[SourceFile]] = {}
    units: list[list[SourceFile]] = []
    for file in files:
        if file.extension in (".txt", ".ann") and file.stem in stems:
            if file.stem not in pairs:
                units.append(pairs.setdefault(file.stem, []))
            pairs[file.stem].append(file)
        else:
            units.append([file])
    return units


def make_records(
    files: Sequence[SourceFile], corpus: Corpus, unit: str, role: str, options: ReadOptions
) -> list[StoredFile]:
    """Return what is to be known about the files of a unit; the first carries the counts."""
    at = moment(now())
    counts = (
        len(corpus.documents),
        sum(len(document.sentences) for document in corpus.documents),
        sum(len(sentence.tokens) for sentence in corpus.sentences),
    )
    return [
        StoredFile(
            uuid.uuid4().hex[:12], file.name, len(file.data), at, options,
            *((0, 0, 0) if i else counts), role, unit, hashlib.sha256(file.data).hexdigest(),
        )
        for i, file in enumerate(files)
    ]  # fmt: skip


def new_batch() -> str:
    """Return a name for files that are added together."""
    return uuid.uuid4().hex[:12]


# ---- bytes ----------------------------------------------------------------------------------


def store_bytes(folder: Path, pairs: Sequence[tuple[StoredFile, SourceFile]]) -> None:
    """Write the files to their places; all are on disk when this returns."""
    are_many = len(pairs) > _MANY and hasattr(os, "sync")
    for record, file in pairs:
        with written_whole(folder / record.path, is_synced=not are_many) as out:
            out.write(file.data)
    if are_many:
        os.sync()


def load_source(folder: Path, record: StoredFile) -> SourceFile:
    """Return a stored file as it was uploaded."""
    return SourceFile(record.name, read_source(folder / record.path).data)


def remove_bytes(folder: Path, gone: Iterable[StoredFile]) -> None:
    """Delete files that no row names any more; what cannot be deleted only takes room."""
    for record in gone:
        with suppress(OSError):
            (folder / record.path).unlink()


def sweep(folder: Path, kept: set[Path]) -> None:
    """Delete old files of text, gold and cache that are not to be kept: what a killed process left.

    Young ones stay, as another process may be about to name them.
    """
    too_young = time.time() - _LEFTOVER_SECONDS
    for name in (TEXT, GOLD, CACHE):
        for path in (folder / name).glob("*"):
            with suppress(OSError):
                if path not in kept and path.stat().st_mtime < too_young:
                    path.unlink()


# ---- rows -----------------------------------------------------------------------------------


def records(db: sqlite3.Connection, role: str) -> list[StoredFile]:
    """Return the files of a role, in the order they were added."""
    rows = db.execute("SELECT * FROM files WHERE role = ? ORDER BY position", (role,))
    return [_from_row(row) for row in rows]


def insert_records(db: sqlite3.Connection, added: Sequence[StoredFile]) -> None:
    """Name files whose bytes are in place."""
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


def delete_records(db: sqlite3.Connection, gone: Sequence[StoredFile]) -> None:
    """Name these files no more."""
    db.executemany("DELETE FROM files WHERE id = ?", [(record.id,) for record in gone])


def note_change(db: sqlite3.Connection, role: str) -> None:
    """Store the key of a role's files, so that asking for it costs nothing."""
    set_fact(db, f"{role}_key", content_key(records(db, role)))
    touch(db)


def content_key(files: Iterable[StoredFile]) -> str:
    """Return a hash of all that decides what the files are read as; "" for no files."""
    units: dict[str, list[object]] = {}
    for file in files:
        about = (file.name, file.sha256, _options_json(file.options), file.renamed)
        units.setdefault(file.unit, []).append(about)
    parts = ascii(list(units.values())).encode()
    return hashlib.sha256(parts).hexdigest()[:16] if units else ""


def _from_row(row: sqlite3.Row) -> StoredFile:
    # A database may come from a stranger's zip, and these become a path.
    if not _ID.fullmatch(str(row["id"])) or row["role"] not in (TEXT, GOLD):
        raise InputError(f'the project names a file "{row["role"]}/{row["id"]}" that cannot be')
    return StoredFile(
        row["id"], row["name"], row["bytes"], moment(row["added_at"]), _options(row["options"]),
        row["documents"], row["sentences"], row["tokens"], row["role"], row["unit"],
        row["sha256"], tuple(sorted(json.loads(row["renamed"]).items())),
    )  # fmt: skip


# Cached, as thousands of files are read by the same few options.
@lru_cache(maxsize=64)
def _options_json(options: ReadOptions) -> str:
    return json.dumps(asdict(options), sort_keys=True)


@lru_cache(maxsize=64)
def _options(stored: str) -> ReadOptions:
    return ReadOptions(**{k: v for k, v in json.loads(stored).items() if k in _OPTIONS})
