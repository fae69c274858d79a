"""Versions of a project's dictionaries: a row and a file each, phrases by column, never changed."""

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from engine import project_store as store
from engine.dictionary import Dictionary, Phrase, fingerprint
from engine.files import written_whole
from engine.formats.ids import unique_ids
from engine.garbage import without_collection
from engine.moments import moment, now
from engine.settings import MatchOptions
from engine.text import InputError


@dataclass(frozen=True, slots=True)
class DictionaryVersion:
    """One state of all dictionaries of a project, and why it was saved."""

    version: int  # 1, 2, …
    saved_at: datetime
    reason: str
    phrases: int
    key: str  # fingerprint of what matches


class Content(NamedTuple):
    """What a version holds, in short; 0 and "" when there is none."""

    version: int = 0
    key: str = ""
    sha256: str = ""  # of the whole content; changes with names and notes, too


def latest(db: sqlite3.Connection) -> Content:
    """Return the version in use."""
    return content_of(db, None)


def content_of(db: sqlite3.Connection, version: int | None) -> Content:
    """Return what a version holds, the one in use for None."""
    row = db.execute(
        "SELECT version, key, sha256 FROM dictionary_versions WHERE version = ? OR ? IS NULL "
        "ORDER BY version DESC LIMIT 1",
        (version, version),
    ).fetchone()
    return Content(*row) if row else Content()


def history(db: sqlite3.Connection) -> list[DictionaryVersion]:
    """Return all versions, latest first."""
    rows = db.execute(
        "SELECT version, saved_at, reason, phrases, key FROM dictionary_versions "
        "ORDER BY version DESC"
    )
    return [
        DictionaryVersion(version, moment(saved_at), reason, phrases, key)
        for version, saved_at, reason, phrases, key in rows
    ]


def load(folder: Path, version: int) -> list[Dictionary]:
    """Return the dictionaries of a version; none of version 0."""
    if version == 0:
        return []
    with store.reading(folder) as db:
        content = content_of(db, version).sha256
    if not content:
        raise InputError(f"there is no version {version} of the dictionaries")
    path = _path(folder, version)
    try:
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != content:
            raise ValueError("its content has changed")
        with without_collection():
            return [_from_json(item) for item in json.loads(data)]
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise InputError(
            f"dictionaries/{path.name} of this project cannot be read ({error}). "
            "Restore an earlier version, or add the dictionaries again"
        ) from error


def save(
    folder: Path, dictionaries: Sequence[Dictionary], reason: str, based_on: int | None = None
) -> int:
    """Store the whole set as a new version and return its number; the same set: the same one.

    When `based_on` is not the latest version any more, InputError.
    """
    version = _save(folder, dictionaries, reason, based_on)
    if version is None:
        raise InputError(
            f"the dictionaries were changed elsewhere since version {based_on}, which this change "
            "was made to. Look at the latest version, then make the change again"
        )
    return version


def add(folder: Path, read: Sequence[Dictionary]) -> list[Dictionary]:
    """Add dictionaries to the set as a new version and return them under their names in it.

    What another process saves meanwhile is kept: the set is made again from that.
    """
    while True:
        with store.reading(folder) as db:
            version = latest(db).version
        held = load(folder, version)
        names = unique_ids(dictionary.name for dictionary in (*held, *read))[0][len(held) :]
        new = [replace(d, name=name) for d, name in zip(read, names, strict=True)]
        if _save(folder, [*held, *new], f"Added {', '.join(names)}", version) is not None:
            return new


def _save(
    folder: Path, dictionaries: Sequence[Dictionary], reason: str, based_on: int | None
) -> int | None:
    data, key = _packed(dictionaries), fingerprint(dictionaries)
    content = hashlib.sha256(data).hexdigest()
    phrases = sum(len(dictionary.phrases) for dictionary in dictionaries)
    with store.writing(folder) as db:
        last = latest(db)
        if based_on not in (None, last.version):
            return None
        if last.version and last.sha256 == content:
            return last.version
        version = last.version + 1
        # A file without a row is no version: whoever comes next writes over it.
        with written_whole(_path(folder, version)) as out:
            out.write(data)
        row = (version, now(), reason[:500], len(dictionaries), phrases, key, content)
        db.execute("INSERT INTO dictionary_versions VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        store.touch(db)
    return version


def _path(folder: Path, version: int) -> Path:
    return folder / "dictionaries" / f"v{version:04d}.json"


# ---- a set as JSON --------------------------------------------------------------------------


def _packed(dictionaries: Sequence[Dictionary]) -> bytes:
    """Phrases by column: a third of the size of an object each, and quick to read."""
    return json.dumps([_to_json(dictionary) for dictionary in dictionaries]).encode()


def _to_json(dictionary: Dictionary) -> dict[str, Any]:
    types = dictionary.types
    numbers = {name: number for number, name in enumerate(types)}
    return {
        "name": dictionary.name,
        "match": None if dictionary.match is None else asdict(dictionary.match),
        "priority": dictionary.priority,
        "is_enabled": dictionary.is_enabled,
        "muted": sorted(dictionary.muted),
        "notes": dictionary.notes,
        "types": types,
        "phrase_types": [numbers[phrase.entity_type] for phrase in dictionary.phrases],
        "phrases": [phrase.text for phrase in dictionary.phrases],
        "canonical_ids": [phrase.canonical_id for phrase in dictionary.phrases],
        "lines": [phrase.line for phrase in dictionary.phrases],
    }


def _from_json(item: dict[str, Any]) -> Dictionary:
    columns = (item[name] for name in ("phrases", "phrase_types", "canonical_ids", "lines"))
    types = item["types"]
    return Dictionary(
        name=item["name"],
        phrases=tuple(
            Phrase(text, types[number], canonical_id, line)
            for text, number, canonical_id, line in zip(*columns, strict=True)
        ),
        match=None if item["match"] is None else MatchOptions(**item["match"]),
        priority=item["priority"],
        is_enabled=item["is_enabled"],
        muted=frozenset((text, entity_type) for text, entity_type in item["muted"]),
        notes=tuple(item["notes"]),
    )
