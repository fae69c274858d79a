"""Versions of a project's dictionaries: one file each, columns of phrases, never changed again."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from engine.dictionary import Dictionary, Phrase
from engine.files import written_whole
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


def version_path(folder: Path, version: int) -> Path:
    """Return where a version of the dictionaries is kept in a project's folder."""
    return folder / "dictionaries" / f"v{version:04d}.json"


def packed(dictionaries: Sequence[Dictionary]) -> bytes:
    """Return the dictionaries as JSON, phrases by column: small, and quick to read."""
    return json.dumps([_to_json(dictionary) for dictionary in dictionaries]).encode()


def content_hash(data: bytes) -> str:
    """Return the hash of a packed version, names and notes included."""
    return hashlib.sha256(data).hexdigest()


def store_version(data: bytes, path: Path) -> None:
    """Write a packed version, whole or not at all."""
    with written_whole(path) as out:
        out.write(data)


def load_version(path: Path) -> list[Dictionary]:
    """Return the dictionaries of a stored version."""
    try:
        return [_from_json(item) for item in json.loads(path.read_bytes())]
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise InputError(
            f"dictionaries/{path.name} of this project cannot be read ({error}). "
            "Restore an earlier version, or add the dictionaries again"
        ) from error


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
    types = item["types"]
    return Dictionary(
        name=item["name"],
        phrases=tuple(
            Phrase(text, types[number], canonical_id, line)
            for text, number, canonical_id, line in zip(
                item["phrases"],
                item["phrase_types"],
                item["canonical_ids"],
                item["lines"],
                strict=True,
            )
        ),
        match=None if item["match"] is None else MatchOptions(**item["match"]),
        priority=item["priority"],
        is_enabled=item["is_enabled"],
        muted=frozenset((text, entity_type) for text, entity_type in item["muted"]),
        notes=tuple(item["notes"]),
    )
