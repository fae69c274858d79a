"""Find the text and id of a record, and make ids unique."""

import json
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from engine.settings import ReadOptions
from engine.text import InputError

TEXT_KEYS = ("text", "sentence", "body", "abstract", "content", "sentence_text")
ID_KEYS = ("id", "doc_id", "docid", "pmid", "document_id")


def unique_ids(ids: Iterable[str]) -> tuple[list[str], int]:
    """Return the ids, with "~2", "~3" … added to repeated ones, and how many were changed.

    The first keeps its id. A new id is never one that is already in the list.

    >>> unique_ids(["a", "b", "a", "a", "a~2"])
    (['a', 'b', 'a~3', 'a~4', 'a~2'], 2)
    """
    given = list(ids)
    taken = set(given)
    seen: set[str] = set()
    numbers: dict[str, int] = {}
    result, changed = [], 0
    for id in given:
        unique = id
        while unique in seen or (unique != id and unique in taken):
            numbers[id] = numbers.get(id, 1) + 1
            unique = f"{id}~{numbers[id]}"
        changed += unique != id
        seen.add(unique)
        result.append(unique)
    return result, changed


class IdBook:
    """Make ids unique as `unique_ids` does, but keep only an eight-byte hash of each.

    Add all ids first; then rename them, in the same order, as often as needed.
    """

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._hashes = array("q", map(hash, ids))
        self._sorted = np.zeros(0, np.int64)
        self._repeated: frozenset[int] = frozenset()

    def __len__(self) -> int:
        return len(self._hashes)

    def add(self, id: str) -> None:
        self._hashes.append(hash(id))

    def close(self) -> None:
        """Find repeated ids, after all were added."""
        self._sorted = np.sort(np.array(self._hashes, np.int64))
        again = self._sorted[1:] == self._sorted[:-1]
        self._repeated = frozenset(self._sorted[1:][again].tolist())

    def extend(self, book: "IdBook") -> None:
        """Add the ids of another book, in which none is repeated."""
        self._hashes.extend(book._hashes)

    def renamed(self, sizes: Sequence[int]) -> list[int]:
        """Return how many ids change in each of the consecutive groups of these sizes."""
        _, first = np.unique(np.array(self._hashes, np.int64), return_index=True)
        is_changed = np.ones(len(self), np.int64)
        is_changed[first] = 0
        ends = np.cumsum([0, *is_changed])[np.cumsum([0, *sizes])]
        return [int(count) for count in np.diff(ends)]

    def renamer(self) -> Callable[[str], str]:
        """Return a function from each id, in the order they were added, to its final id.

        Different ids with the same hash are told apart by their letters.
        """
        numbers: dict[str, int] = {}

        def rename(id: str) -> str:
            if hash(id) not in self._repeated:
                return id
            if id not in numbers:
                numbers[id] = 1
                return id
            unique = id
            while unique == id or self._has(unique):
                numbers[id] += 1
                unique = f"{id}~{numbers[id]}"
            return unique

        return rename

    def _has(self, id: str) -> bool:
        place = int(np.searchsorted(self._sorted, hash(id)))
        return place < len(self) and int(self._sorted[place]) == hash(id)


def written_ids(ids: Iterable[str] | None, change: Callable[[str], str]) -> Callable[[str], str]:
    """Return a function from each id, in order, to its id in a format that cannot hold every id.

    `ids` are those of all documents; None if `change` leaves each of them as it is.
    """
    if ids is None:
        return change
    book = IdBook(map(change, ids))
    book.close()
    rename = book.renamer()
    return lambda id: rename(change(id))


def find_id(options: ReadOptions, *places: object) -> tuple[str, str]:
    """Return the first id in `places` (objects, best first) and its key; "" if none has one."""
    for place in places:
        key = _find_key(place, options.id_column, ID_KEYS) if isinstance(place, dict) else None
        id = place[key] if isinstance(place, dict) and key is not None else None
        if key is None or id is None or str(id).strip() == "":
            continue
        if isinstance(id, dict | list | bool):
            raise InputError(f'"{key}" is {quoted(id)}, which is not an id. Correct it')
        return str(id), key
    return "", ""


def find_text(record: dict[str, Any], options: ReadOptions) -> tuple[str, str]:
    """Return the text of a record and the key that held it."""
    key = _find_key(record, options.text_column, TEXT_KEYS)
    if key is None:
        wanted = f'no key "{options.text_column}"' if options.text_column else "no text found"
        keys = ", ".join(record) or "none"
        raise InputError(
            f"{wanted}; its keys are: {keys}. Name the one that holds the text (text_column)",
            fix="text_column",
        )
    text = record[key]
    if not isinstance(text, str):
        raise InputError(f'"{key}" is {quoted(text)}, which is not text. Correct it')
    return text, key


def as_object(value: object, what: str = "the record") -> dict[str, Any]:
    """Return a JSON object; InputError for anything else."""
    if not isinstance(value, dict):
        raise InputError(f"{what} is {quoted(value)}, expected an object {{…}}. Correct it")
    return value


def quoted(value: object) -> str:
    """Return a JSON value as it stands in the file, short enough for a message."""
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 60 else f"{shown[:59]}…"


def _find_key(record: dict[str, Any], asked: str | None, names: Iterable[str]) -> str | None:
    if asked:
        return asked if asked in record else None
    lowered = {key.strip().lower(): key for key in record}
    return next((lowered[name] for name in names if name in lowered), None)
