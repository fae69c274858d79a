"""A project's own copies of uploaded files, byte for byte, and what was found in them."""

import hashlib
import json
import re
import sqlite3
import unicodedata
import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from pathlib import Path

from engine.files import SourceFile, read_source, written_whole
from engine.project_store import moment, now
from engine.settings import LIMITS, ReadOptions
from engine.text import Corpus, InputError

TEXT, GOLD = "text", "gold"  # roles, and the folders they are kept in
_ID = re.compile("[0-9a-f]{12}")
_OPTIONS = {field.name for field in fields(ReadOptions)}


@dataclass(frozen=True, slots=True)
class StoredFile:
    """An uploaded file as the project keeps it."""

    id: str
    name: str  # as uploaded
    bytes: int
    added_at: datetime
    options: ReadOptions
    documents: int
    sentences: int
    tokens: int
    role: str = TEXT
    unit: str = ""  # files that are read together share it, such as a .txt and its .ann
    sha256: str = ""
    renamed: tuple[tuple[str, str], ...] = ()  # document ids another file had: (in the file, here)

    @property
    def path(self) -> str:
        """Where its bytes are, inside the project's folder."""
        return f"{self.role}/{self.id}-{safe_name(self.name)}"


def safe_name(name: str) -> str:
    """Return a file name that is safe on any file system and still tells what the file is.

    >>> safe_name("../../étude <1>.TXT"), safe_name("..")
    ('etude_1_.TXT', 'file')
    """
    last = re.split(r"[/\\]", name)[-1]
    plain = unicodedata.normalize("NFKD", last).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", plain).strip("._-") if plain.strip(".") else ""
    stem, dot, extension = plain.rpartition(".")
    return f"{stem[:60]}.{extension[:12]}" if dot and stem else plain[:60] or "file"


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


def check_sizes(files: Sequence[SourceFile]) -> None:
    """Raise InputError when there is no file, or one that is over the limit."""
    if not files:
        raise InputError("no files were given")
    for file in files:
        if len(file.data) > LIMITS.file_mb * 1_000_000:
            raise InputError(
                f"{file.name} is {len(file.data) / 1e6:,.0f} MB; the limit is {LIMITS.file_mb} MB "
                "a file. Split it into smaller files"
            )


def make_records(
    files: Sequence[SourceFile], options: ReadOptions, role: str, corpus: Corpus
) -> list[StoredFile]:
    """Return what is to be stored about the files of one unit, counts with the first of them."""
    unit, at = uuid.uuid4().hex[:12], moment(now())
    sentences = list(corpus.sentences)
    counts = (len(corpus.documents), len(sentences), sum(len(s.tokens) for s in sentences))
    ordered = sorted(files, key=lambda file: file.extension == ".ann")
    return [
        StoredFile(
            uuid.uuid4().hex[:12], clean_name(file.name), len(file.data), at, options,
            *(counts if i == 0 else (0, 0, 0)),
            role=role, unit=unit, sha256=hashlib.sha256(file.data).hexdigest(),
        )
        for i, file in enumerate(ordered)
    ]  # fmt: skip


def clean_name(name: str) -> str:
    """Return the name without its folders and without what no name should hold."""
    last = re.split(r"[/\\]", name)[-1]
    kept = "".join(c for c in last if c.isprintable() and not "\ud800" <= c <= "\udfff")
    return kept.strip()[:200] or "file"


def store_bytes(folder: Path, record: StoredFile, data: bytes) -> None:
    """Write the bytes of a file to its place, whole or not at all."""
    with written_whole(folder / record.path) as out:
        out.write(data)


def load_source(folder: Path, record: StoredFile) -> SourceFile:
    """Return a stored file as it was uploaded."""
    return SourceFile(record.name, read_source(folder / record.path).data)


def insert_record(db: sqlite3.Connection, record: StoredFile) -> None:
    """Store what is known about a file whose bytes are in place."""
    db.execute(
        "INSERT INTO files (id, role, unit, name, bytes, sha256, options, renamed, documents, "
        "sentences, tokens, added_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            record.id, record.role, record.unit, record.name, record.bytes, record.sha256,
            json.dumps(asdict(record.options)), json.dumps(dict(record.renamed)),
            record.documents, record.sentences, record.tokens, record.added_at.isoformat(),
        ),
    )  # fmt: skip


def records(db: sqlite3.Connection, role: str) -> list[StoredFile]:
    """Return the files of a role, in the order they were added."""
    rows = db.execute("SELECT * FROM files WHERE role = ? ORDER BY position", (role,))
    return [_from_row(row) for row in rows]


def by_unit(stored: Iterable[StoredFile]) -> list[list[StoredFile]]:
    """Return the files by what is read together, in order."""
    units: dict[str, list[StoredFile]] = {}
    for record in stored:
        units.setdefault(record.unit, []).append(record)
    return list(units.values())


def content_key(stored: Iterable[StoredFile]) -> str:
    """Return a hash of all that decides what the files are read as; "" for no files."""
    parts = [
        (record.name, record.sha256, sorted(asdict(record.options).items()), record.renamed)
        for record in stored
    ]
    return hashlib.sha256(ascii(parts).encode()).hexdigest()[:16] if parts else ""


def remove_bytes(folder: Path, removed: Iterable[StoredFile]) -> None:
    """Delete files that no record names any more; what cannot be deleted only takes room."""
    for record in removed:
        with suppress(OSError):
            (folder / record.path).unlink()


def with_renames(record: StoredFile, renamed: dict[str, str]) -> StoredFile:
    """Return the record with the document ids that had to be changed."""
    return replace(record, renamed=tuple(sorted(renamed.items())))


def _from_row(row: sqlite3.Row) -> StoredFile:
    # A database may come from a stranger's zip, and these become a path.
    if not _ID.fullmatch(row["id"]) or row["role"] not in (TEXT, GOLD):
        raise InputError(f'the project names a file "{row["role"]}/{row["id"]}" that cannot be')
    options = {k: v for k, v in json.loads(row["options"]).items() if k in _OPTIONS}
    return StoredFile(
        row["id"], row["name"], row["bytes"], moment(row["added_at"]), ReadOptions(**options),
        row["documents"], row["sentences"], row["tokens"], row["role"], row["unit"],
        row["sha256"], tuple(sorted(json.loads(row["renamed"]).items())),
    )  # fmt: skip
