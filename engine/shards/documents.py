"""Read the documents of a shard, and turn them and their entities into the bytes of its result."""

import io
from dataclasses import replace

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
# The same in every shard, so that all can be read as one table. The numbers of tags that the format
# "parquet" has would differ by the types of a shard, so there are none.
_SCHEMA = pa.schema([("id", pa.string()), ("text", pa.string()), ("entities", pa.list_(_ENTITY))])


def read_shard(shard: Shard, options: ShardOptions) -> Corpus:
    """Return the documents of a shard; InputError, with the shard's name, if it has none."""
    refuse_large(shard.name, shard.size, options.limits)
    file = SourceFile(shard.name, shard.store.read(shard.name), options.limits)
    corpus = read_corpus([file], options.read)
    if not corpus.documents:
        raise InputError(f"{shard.name} holds entities but not the texts they are in")
    return corpus


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
