"""Record what was done with a shard, so that a job that starts again skips what is finished."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from engine.shards.shards import OWN_FOLDER, Shard
from engine.shards.stores import Store


@dataclass(frozen=True, slots=True)
class Record:
    """What was done with one shard, and what it was done with."""

    shard: str
    size: int
    version: str
    key: str  # a hash of the dictionaries or the run, and of all settings
    output: str  # "" if the stage only counts
    output_size: int
    figures: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def record_name(stage: str, shard: Shard) -> str:
    """Return where the record of a shard lies in the folder of results."""
    return f"{OWN_FOLDER}/{stage}/{shard.output}.json"


def write_record(store: Store, stage: str, shard: Shard, record: Record) -> None:
    """Write the record; only after the result itself is in its place."""
    store.write(record_name(stage, shard), json.dumps(asdict(record)).encode())


def finished_records(
    store: Store, stage: str, key: str, shards: Iterable[Shard]
) -> dict[Shard, Record]:
    """Return the records of shards that are finished with these very settings.

    A shard that has changed since, or whose result is gone or has another size, is not finished.
    """
    sizes = {file.name: file.size for file in store.files()}
    named = {record_name(stage, shard): shard for shard in shards}
    read = store.read_all(name for name in named if name in sizes)
    records = ((named[name], _parsed(data)) for name, data in read.items())
    return {
        shard: record
        for shard, record in records
        if record is not None
        and (record.shard, record.size, record.version, record.key)
        == (shard.name, shard.size, shard.version, key)
        and (not record.output or sizes.get(record.output) == record.output_size)
    }


def _parsed(data: bytes) -> Record | None:
    """Return a record; None for one of another version, whose shard is done again."""
    try:
        fields = json.loads(data)
        return Record(**{**fields, "notes": tuple(fields["notes"])})
    except (ValueError, TypeError, KeyError):
        return None
