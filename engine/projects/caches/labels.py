"""Cache distant labels in the project's folder, so that the same text is not labeled twice.

A file that is missing, damaged or made by other code is ignored, and the text is labeled again.
Only the files used last are kept. Nothing in them is unpickled.
"""

import hashlib
import json
import os
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import astuple
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.files import written_whole
from engine.labels import (
    ALSO_COLUMNS,
    MATCH_COLUMNS,
    OUTCOMES,
    SHORTER_COLUMNS,
    Abbreviation,
    Adaptation,
    CaseDecision,
    DistantLabels,
    paint,
)
from engine.projects.caches.code_version import code_version, sources_of
from engine.projects.caches.corpus import reader_version
from engine.projects.files import CACHE
from engine.text import InputError

_FOLDER = "labels"
_NEVER = "never "  # begins the names of arrays about phrases that are never an entity
_MOST_FILES, _MOST_BYTES = 4, 200_000_000  # per project; the file used last always stays
_LEFTOVER_SECONDS = 3600  # writing a file never takes longer
_PHRASE_COLUMNS = ("phrase", "entity_type", "canonical_id", "dictionary")
_DAMAGE = (
    OSError, ValueError, KeyError, IndexError, TypeError, EOFError, zipfile.BadZipFile,
    NotImplementedError, MemoryError,
)  # fmt: skip
_Arrays = dict[str, npt.NDArray[Any]]


def kept_labels(
    folder: Path, key_of: Callable[[], str], make: Callable[[], DistantLabels]
) -> DistantLabels:
    """Return the labels cached under a key; make and cache them if there are none.

    `key_of` is called before and after: if the key changed meanwhile, nothing is cached.
    """
    key = key_of()
    path = labels_path(folder, key)
    labels = load_labels(path)
    if labels is None:
        labels = make()
        if key_of() == key:
            store_labels(labels, path)
            tidy(path)
    return labels


def labels_path(folder: Path, key: str) -> Path:
    """Return the path of cached labels; it depends on the key and on the code."""
    name = hashlib.sha256(f"{key} {reader_version()} {matching_version()}".encode()).hexdigest()
    return folder / CACHE / _FOLDER / f"{name[:24]}.npz"


@cache
def matching_version() -> str:
    """Return a hash of the code that makes labels, so that labels of other code are not used."""
    return code_version(_matching_sources(), ("flashtext", "regex"))


def _matching_sources() -> dict[str, bytes]:
    return sources_of([__name__, "engine.labels.relabeling"])


def store_labels(labels: DistantLabels, path: Path) -> None:
    """Write the labels. Without room on disk nothing is written: they can be made again."""
    with suppress(InputError), written_whole(path, is_synced=False) as out:
        np.savez(out, allow_pickle=False, **_to_arrays(labels))


def load_labels(path: Path) -> DistantLabels | None:
    """Return the labels stored at `path`; None if the text has to be labeled."""
    try:
        # Opened here, because numpy does not close a file that is cut short.
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as stored:
            labels = _from_arrays({name: stored[name] for name in stored.files})
        os.utime(path)  # mark it as used
    except _DAMAGE:
        return None
    return labels


def tidy(newest: Path) -> None:
    """Delete the files used longest ago, beyond the limits, and files never finished."""
    count = room = 0
    for age, size, path in sorted(_files(newest.parent)):
        is_whole = path.suffix == newest.suffix
        count, room = count + is_whole, room + size
        is_over = count > _MOST_FILES or room > _MOST_BYTES
        if is_over and path != newest if is_whole else age > _LEFTOVER_SECONDS:
            with suppress(OSError):
                path.unlink()


def _files(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """Yield the seconds since each file was used, its size, and its path."""
    with suppress(OSError):  # another process may be deleting, too
        for path in folder.iterdir():
            about = path.stat()
            yield time.time() - about.st_mtime, about.st_size, path


# ---- labels as arrays -----------------------------------------------------------------------


def _to_arrays(labels: DistantLabels) -> _Arrays:
    never = {} if labels.never is None else _to_arrays(labels.never)
    return _own_arrays(labels) | {f"{_NEVER}{name}": array for name, array in never.items()}


def _own_arrays(labels: DistantLabels) -> _Arrays:
    columns = {name: pd.factorize(labels.phrases[name].to_numpy()) for name in _PHRASE_COLUMNS}
    names = [labels.types, labels.dictionaries, *(list(values) for _, values in columns.values())]
    return {
        "names": np.frombuffer(json.dumps(names).encode(), np.uint8),
        "notes": np.frombuffer(json.dumps(labels.notes).encode(), np.uint8),
        "phrases": _stacked([codes for codes, _ in columns.values()]),
        "lengths": np.diff(labels.bounds).astype(np.int32),
        "matches": labels.matches.to_numpy(np.int32),
        "also": labels.also.to_numpy(np.int32),
        "shorter": labels.shorter.to_numpy(np.int32),
        **_adaptation_arrays(labels.adaptation),
    }


def _adaptation_arrays(adaptation: Adaptation | None) -> _Arrays:
    if adaptation is None:
        return {"adaptation": np.frombuffer(b"null", np.uint8)}
    lists = [
        [astuple(row) for row in rows] for rows in (adaptation.cases, adaptation.abbreviations)
    ]
    return {
        "adaptation": np.frombuffer(json.dumps(lists).encode(), np.uint8),
        "exact": adaptation.exact,
        "other": adaptation.other,
        "defined_in": adaptation.defined_in,
    }


def _adaptation_from(arrays: _Arrays, *, phrases: int, sentences: int) -> Adaptation | None:
    lists = json.loads(arrays["adaptation"].tobytes())
    if lists is None:
        return None
    cases, abbreviations = lists
    exact, other, defined_in = (arrays[name] for name in ("exact", "other", "defined_in"))
    if not exact.shape == other.shape == (phrases,) or defined_in.ndim != 1:
        raise ValueError("the arrays do not fit together")
    _check(defined_in[:, None], [(0, sentences)])
    return Adaptation(
        tuple(CaseDecision(*row) for row in cases),
        tuple(Abbreviation(*row) for row in abbreviations),
        exact,
        other,
        defined_in,
    )


def _stacked(columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.int32]:
    return np.stack(columns, axis=1).astype(np.int32)


def _from_arrays(arrays: _Arrays) -> DistantLabels:
    never = {name.removeprefix(_NEVER): a for name, a in arrays.items() if name.startswith(_NEVER)}
    types, dictionaries, *values = json.loads(arrays["names"].tobytes())
    codes = _table(arrays, "phrases", _PHRASE_COLUMNS)
    _check(codes, [(0, len(distinct)) for distinct in values])
    phrases = {
        name: np.array([*distinct, None], dtype=object)[codes[:, i]]
        for i, (name, distinct) in enumerate(zip(_PHRASE_COLUMNS, values, strict=True))
    }
    lengths = arrays["lengths"]
    bounds = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=bounds[1:])
    matches, also, shorter = (
        _table(arrays, name, columns)
        for name, columns in (
            ("matches", MATCH_COLUMNS), ("also", ALSO_COLUMNS), ("shorter", SHORTER_COLUMNS),
        )
    )  # fmt: skip
    rows, sentences, longest = len(matches), len(lengths), int(lengths.max(initial=0)) + 1
    token = (0, longest)
    phrase = (0, len(codes))
    _check(
        matches,
        [(0, sentences), token, token, (1, len(types) + 1), phrase, (0, len(OUTCOMES)), (-1, rows)],
    )
    _check(also, [(0, rows), phrase])
    _check(shorter, [(0, sentences), token, token, phrase])
    table = pd.DataFrame(matches, columns=list(MATCH_COLUMNS))
    return DistantLabels(
        types=tuple(types),
        labels=paint(table, bounds),
        bounds=bounds,
        matches=table,
        also=pd.DataFrame(also, columns=list(ALSO_COLUMNS)),
        phrases=pd.DataFrame(phrases, dtype=object),
        shorter=pd.DataFrame(shorter, columns=list(SHORTER_COLUMNS)),
        dictionaries=tuple(dictionaries),
        adaptation=_adaptation_from(arrays, phrases=len(codes), sentences=sentences),
        never=_from_arrays(never) if never else None,
        notes=tuple(json.loads(arrays["notes"].tobytes())),
    )


def _table(arrays: _Arrays, name: str, columns: Sequence[str]) -> npt.NDArray[np.int32]:
    rows = arrays[name]
    if rows.dtype != np.int32 or rows.shape[1:] != (len(columns),):
        raise ValueError(f"{name} is not a table of {len(columns)} columns")
    return rows


def _check(rows: npt.NDArray[np.int32], ranges: Sequence[tuple[int, int]]) -> None:
    """Refuse numbers that refer to missing rows or names."""
    least, most = np.array(ranges).T
    if len(rows) and ((rows < least) | (rows >= most)).any():
        raise ValueError("the arrays do not fit together")
