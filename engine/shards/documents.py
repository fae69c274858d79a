"""Read the documents of a shard, and turn them and their entities into the bytes of its result."""

import io
import json
from dataclasses import replace
from pathlib import PurePosixPath

import pyarrow as pa
import pyarrow.parquet as pq

from engine.files import SourceFile, refuse_large
from engine.formats import read_corpus, writable_format
from engine.shards.shards import PARQUET, Shard, ShardOptions
from engine.text import Corpus, InputError

_ENTITY = pa.struct(
    [
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("label", pa.string()),
        ("text", pa.string()),
        ("score", pa.float64()),
        ("method", pa.string()),
        ("source", pa.string()),
        ("matched_term", pa.string()),
        ("canonical_id", pa.string()),
        ("run_id", pa.string()),
    ]
)
# The same in every shard, also where one has no entity, so that all can be read as one table.
_SCHEMA = pa.schema([("id", pa.string()), ("text", pa.string()), ("entities", pa.list_(_ENTITY))])


def read_shard(shard: Shard, options: ShardOptions) -> Corpus:
    """Return the documents of a shard; InputError, with the shard's name, if it has none."""
    refuse_large(shard.name, shard.size, options.limits)
    data = shard.store.read(shard.name)
    if PurePosixPath(shard.name).suffix.lower() != f".{PARQUET}":
        corpus = read_corpus([SourceFile(shard.name, data, options.limits)], options.read)
    else:
        name = str(PurePosixPath(shard.name).with_suffix(".jsonl"))
        try:
            lines = SourceFile(name, _json_lines(shard.name, data), options.limits)
            corpus = read_corpus([lines], options.read)
        except InputError as error:
            raise InputError(str(error).replace(name, shard.name), *error.fixes) from error
    if not corpus.documents:
        raise InputError(f"{shard.name} holds entities but not the texts they are in")
    return corpus


def _json_lines(name: str, data: bytes) -> bytes:
    """Return the rows of a Parquet file as JSON lines, which are read like any others."""
    try:
        rows = pq.read_table(pa.BufferReader(data)).to_pylist()
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else "it is damaged"
        raise InputError(f"{name} cannot be read as Parquet: {reason}") from error
    if not rows:
        raise InputError(f"{name} has no rows")
    return "\n".join(json.dumps(row, default=str) for row in rows).encode()


def shard_bytes(corpus: Corpus, options: ShardOptions) -> tuple[bytes, int, tuple[str, ...]]:
    """Return a result as bytes, its rows, and notes on what changed when it was written."""
    out = io.BytesIO()
    if options.format == PARQUET:
        pq.write_table(_table(corpus), out)
        return out.getvalue(), len(corpus.documents), ()
    writer = writable_format("", options.format).write
    assert writer is not None
    report = writer(replace(corpus, files=()), out, options.write)
    return out.getvalue(), report.rows, report.notes


def _table(corpus: Corpus) -> pa.Table:
    rows = [
        {
            "id": document.id,
            "text": document.text,
            "entities": [
                {
                    "start": entity.start,
                    "end": entity.end,
                    "label": entity.entity_type,
                    "text": document.text[entity.start : entity.end],
                    "score": entity.score,
                    "method": entity.method,
                    "source": entity.source,
                    "matched_term": entity.matched_phrase,
                    "canonical_id": entity.canonical_id,
                    "run_id": entity.run_id,
                }
                for entity in corpus.entities.get(document.id, ())
            ],
        }
        for document in corpus.documents
    ]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)
