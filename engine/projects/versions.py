"""Store every version of a project's dictionaries as a row and a file that never change."""

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from engine.dictionaries import Dictionary, Phrase, Place, fingerprint, join
from engine.files import written_whole
from engine.projects import store as store
from engine.projects.connection import checked_row
from engine.settings import MatchOptions
from engine.system import moment, now, without_collection
from engine.text import InputError

_KINDS = {"version": int, "saved_at": str, "reason": str, "phrases": int, "key": str}


@dataclass(frozen=True, slots=True)
class DictionaryVersion:
    """One saved state of all dictionaries of a project, and what was changed."""

    version: int  # 1, 2, …
    saved_at: datetime
    reason: str
    phrases: int
    key: str  # fingerprint of what can match


class Content(NamedTuple):
    """The identity of a version's content; 0 and "" if there is no version."""

    version: int = 0
    key: str = ""
    sha256: str = ""  # of the whole content, names and notes included


def latest(db: sqlite3.Connection) -> Content:
    """Return the identity of the latest version."""
    return content_of(db, None)


def content_of(db: sqlite3.Connection, version: int | None) -> Content:
    """Return the identity of a version's content; of the latest one for None."""
    row = db.execute(
        "SELECT version, key, sha256 FROM dictionary_versions WHERE version = ? OR ? IS NULL "
        "ORDER BY version DESC LIMIT 1",
        (version, version),
    ).fetchone()
    if row is None:
        return Content()
    kinds = {"version": int, "key": str, "sha256": str}
    return Content(**checked_row(row, kinds, "a version of the dictionaries"))


def history(db: sqlite3.Connection) -> list[DictionaryVersion]:
    """Return all versions, latest first."""
    rows = db.execute(
        "SELECT version, saved_at, reason, phrases, key FROM dictionary_versions "
        "ORDER BY version DESC"
    )
    checked = [checked_row(row, _KINDS, "a version of the dictionaries") for row in rows]
    return [
        DictionaryVersion(**{**values, "saved_at": moment(values["saved_at"])})
        for values in checked
    ]


def load(folder: Path, version: int) -> list[Dictionary]:
    """Return the dictionaries of a version; version 0 has none."""
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
            return [dictionary_from(item) for item in json.loads(data)]
    except (
        OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError
    ) as error:  # fmt: skip
        reason = " ".join(str(error).split())[:120]
        raise InputError(
            f"dictionaries/{path.name} of this project cannot be read ({reason}). "
            "Restore an earlier version, or add the dictionaries again"
        ) from error


def save(
    folder: Path,
    dictionaries: Sequence[Dictionary],
    reason: str,
    based_on: int | None = None,
    choices: Mapping[str, Any] | None = None,
) -> int:
    """Store the whole set as a new version and return its number; an equal set keeps the number.

    `choices` of the project are stored in the same transaction. Raises InputError if `based_on` is
    no longer the latest version.
    """
    version = _save(folder, dictionaries, reason, based_on, choices)
    if version is None:
        raise InputError(
            f"the dictionaries were changed elsewhere since version {based_on}, which this change "
            "is based on. Look at the latest version, then make the change again"
        )
    return version


def add(folder: Path, new: Sequence[Dictionary], *, is_replacing: bool = False) -> list[Dictionary]:
    """Join dictionaries to the set as a new version and return them as they are in it.

    If another process saves in the meantime, the join is repeated on what it saved.
    """
    while True:
        with store.reading(folder) as db:
            version = latest(db).version
        held = load(folder, version)
        whole = join(held, new, is_replacing=is_replacing)
        untouched = set(map(id, held))
        added = [dictionary for dictionary in whole if id(dictionary) not in untouched]
        names = ", ".join(dictionary.name for dictionary in added)
        if _save(folder, whole, f"Added {names}", version) is not None:
            return added


def _save(
    folder: Path,
    dictionaries: Sequence[Dictionary],
    reason: str,
    based_on: int | None,
    choices: Mapping[str, Any] | None = None,
) -> int | None:
    data, key = _packed(dictionaries), fingerprint(dictionaries)
    content = hashlib.sha256(data).hexdigest()
    phrases = sum(len(dictionary.phrases) for dictionary in dictionaries)
    with store.writing(folder) as db:
        last = latest(db)
        if based_on not in (None, last.version):
            return None
        for name, value in (choices or {}).items():
            store.set_choice(db, name, value)
        if last.version and last.sha256 == content:
            return last.version
        version = last.version + 1
        # A file without a row is not a version: the next save overwrites it.
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
    """Write phrases by column: a third of the size of one object per phrase, and fast to read."""
    return json.dumps([dictionary_record(dictionary) for dictionary in dictionaries]).encode()


def dictionary_record(dictionary: Dictionary) -> dict[str, Any]:
    """Return a dictionary as JSON values."""
    types = dictionary.types
    numbers = {name: number for number, name in enumerate(types)}
    # Left out if there are none: a version from before this setting stays equal to itself.
    as_written = {"as_written": sorted(dictionary.as_written)} if dictionary.as_written else {}
    places = {} if dictionary.places is None else {"places": dictionary.places}
    return (
        as_written
        | places
        | {
            "name": dictionary.name,
            "match": None if dictionary.match is None else dictionary.match.record(),
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
    )


def dictionary_from(item: dict[str, Any]) -> Dictionary:
    """Return the dictionary that `dictionary_record` wrote; ValueError or the like if damaged."""
    columns = [item[name] for name in ("phrases", "phrase_types", "canonical_ids", "lines")]
    types = item["types"]
    _check_kinds(item, columns)
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
        as_written=frozenset((text, name) for text, name in item.get("as_written", ())),
        notes=tuple(item["notes"]),
        places=tuple(Place(*place) for place in item["places"]) if "places" in item else None,
    )


def _check_kinds(item: dict[str, Any], columns: Sequence[Sequence[Any]]) -> None:
    """Raise TypeError for values that we do not write: matching would fail on them later."""
    phrases, numbers, ids, lines = columns
    muted = [text for pair in item["muted"] for text in pair]
    muted += [text for pair in item.get("as_written", ()) for text in pair]
    places = item.get("places", [])
    named = [text for document, _, _, *of_phrase in places for text in (document, *of_phrase)]
    offsets = [offset for _, start, end, _, _ in places for offset in (start, end)]
    texts = ([item["name"]], item["types"], phrases, ids, item["notes"], muted, named)
    whole = (numbers, lines, [item["priority"]], offsets)
    if not all(type(values) is list for values in (*texts, *whole)):
        raise TypeError("a column is not a list")
    if any(set(map(type, values)) - {str} for values in texts):
        raise TypeError("a name or phrase is not a text")
    if any(set(map(type, values)) - {int} for values in whole):
        raise TypeError("a number is not a whole number")
    if numbers and min(numbers) < 0:
        raise ValueError("a phrase has no type")
    if type(item["is_enabled"]) is not bool:
        raise TypeError("is_enabled is neither true nor false")
