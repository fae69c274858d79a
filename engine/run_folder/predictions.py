"""Keep what a run predicts as one Parquet file, and read it as entities or as columns.

One row per entity, in the order of the documents. CSV is for export only.
"""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import chain, pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from engine.files import written_whole
from engine.scoring import Marks
from engine.settings import LIMITS
from engine.system import without_collection
from engine.text import EntitiesByDocument, Entity, InputError

_NAMES = tuple(field.name for field in fields(Entity))
_TYPES = {
    "start": pa.int64(),
    "end": pa.int64(),
    "score": pa.float64(),
    "in_dictionary": pa.bool_(),
}  # all others are strings, most of them repeated
_MOST_ROWS = 50_000_000  # a file of a few kilobytes may claim any number


def write_predictions(path: Path, entities: EntitiesByDocument) -> None:
    """Write the entities, whole or not at all; documents without any leave no trace."""
    documents = list(
        chain.from_iterable([id] * len(in_document) for id, in_document in entities.items())
    )
    rows = list(chain.from_iterable(entities.values()))
    columns = {"document": _strings(documents)}
    for name in _NAMES:
        values = list(map(attrgetter(name), rows))
        columns[name] = pa.array(values, _TYPES[name]) if name in _TYPES else _strings(values)
    with written_whole(path) as out:
        pq.write_table(pa.table(columns), out, compression="zstd")


def read_entities(path: Path) -> dict[str, tuple[Entity, ...]]:
    """Return the entities of a predictions file by document id."""
    table = _read(path, ("document", *_NAMES))
    with without_collection():
        columns = [_values(table[name]) for name in _NAMES]
        entities = list(map(Entity, *columns))
        document_ids = _values(table["document"])
        bounds = [*_changes(table["document"]), len(entities)]
        by_document: dict[str, tuple[Entity, ...]] = {}
        for start, end in pairwise(bounds):
            id = document_ids[start]
            by_document[id] = by_document.get(id, ()) + tuple(entities[start:end])
    return by_document


def check_predictions(path: Path) -> None:
    """Raise InputError unless every column of a predictions file is as we write it."""
    _read(path, ("document", *_NAMES))


def read_marks(path: Path) -> Marks:
    """Return the entities of a predictions file as columns: faster than one object per entity."""
    table = _read(path, ("document", "start", "end", "entity_type", "score"))
    document, types = _codes(table["document"]), _codes(table["entity_type"])
    return Marks(
        document_ids=tuple(_values(document.dictionary)),
        types=tuple(_values(types.dictionary)),
        document=_numbers(document.indices),
        start=_numbers(table["start"]),
        end=_numbers(table["end"]),
        type=_numbers(types.indices),
        score=np.asarray(table["score"].to_numpy(), dtype=np.float64),
    )


def _read(path: Path, names: Sequence[str]) -> Any:
    """These columns of the file; InputError unless they hold what we write."""
    try:
        with pq.ParquetFile(path) as file:
            size = sum(
                file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups)
            )
            if file.metadata.num_rows > _MOST_ROWS or size > LIMITS.project_mb * 1_000_000:
                raise ValueError("it claims more rows than a run predicts")
            table = file.read(columns=list(names))
        _check(table, names)
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        raise InputError(
            f"{path} cannot be read; the run is damaged ({_first_line(error)}). Train again"
        ) from error
    return table


def _check(table: Any, names: Sequence[str]) -> None:
    """Raise ValueError for values that no run predicts: they may come from a stranger's zip."""
    if missing := set(names) - set(table.column_names):
        raise ValueError(f"it has no column {min(missing)}")
    table.validate(full=True)  # strings are stored once, and each row says which
    for name in names:
        kind = table.schema.field(name).type
        expected = _TYPES.get(name)
        if kind != expected if expected is not None else not _is_text(kind):
            raise ValueError(f"{name} is {kind}")
        if table[name].null_count and name not in ("score", "in_dictionary"):
            raise ValueError(f"{name} is missing in a row")
    if not table.num_rows:
        return
    if (
        pc.min(table["start"]).as_py() < 0
        or not pc.all(pc.less(table["start"], table["end"])).as_py()
    ):
        raise ValueError("an entity ends before it starts")
    scores = table["score"].drop_null()
    if (
        len(scores)
        and not pc.all(pc.and_(pc.greater_equal(scores, 0.0), pc.less_equal(scores, 1.0))).as_py()
    ):
        raise ValueError("a score is not between 0 and 1")
    for name in set(names) - _TYPES.keys():
        values = _values(_codes(table[name]).dictionary)
        if name in ("document", "entity_type") and not all(values):
            raise ValueError(f"{name} is empty in a row")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


# ---- columns --------------------------------------------------------------------------------


def _strings(values: Sequence[str]) -> Any:
    """A column of strings, each stored once."""
    try:
        return pa.array(values, pa.string()).dictionary_encode()
    except UnicodeEncodeError:  # half a surrogate pair has no UTF-8
        encoded = [value.encode("utf-8", "surrogatepass") for value in values]
        return pa.array(encoded, pa.binary()).dictionary_encode()


def _is_text(kind: Any) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_binary(kind))


def _values(column: Any) -> list[Any]:
    """The column as Python values; equal strings are one object."""
    if isinstance(column, pa.ChunkedArray) and pa.types.is_dictionary(column.type):
        codes = _codes(column)
        names = _values(codes.dictionary)
        return [names[code] for code in codes.indices.to_numpy().tolist()]
    values: list[Any] = column.to_pylist()
    if pa.types.is_binary(column.type):
        return [value.decode("utf-8", "surrogatepass") for value in values]
    return values


def _codes(column: Any) -> Any:
    """A column of strings as one dictionary of distinct values, and indices into it."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    return whole if not isinstance(whole, pa.ChunkedArray) else whole.chunk(0)


def _numbers(column: Any) -> npt.NDArray[np.int64]:
    return np.asarray(column.to_numpy(), dtype=np.int64)


def _changes(column: Any) -> Iterable[int]:
    """The rows at which another document begins."""
    codes = _numbers(_codes(column).indices)
    return [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist()] if len(codes) else []
