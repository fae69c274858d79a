"""Read and write Parquet as Hugging Face datasets reads it: one row per document.

`load_dataset("parquet", data_files="entities.parquet")` gives the columns id, text, entities,
tokens, ner_tags and sentences; the names of the tags are in the file.
"""

import io
import json
import math
from collections.abc import Iterable
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from engine.files import Source, find_column, read_whole, refuse_many
from engine.formats.contract import Format, WriteOptions, WriteReport, overview, surface
from engine.formats.drafts import read_drafts
from engine.formats.ids import ID_KEYS, TEXT_KEYS
from engine.formats.json_spans import check_offsets
from engine.formats.packed import PackedDocument, PackedReading, damaged, without_surrogates
from engine.formats.tagging import FitCounts, fit
from engine.settings import ReadOptions
from engine.text import Corpus, Document, Entity, InputError, tags_from_spans

_NAME = "parquet"
_ENTITY = {
    "start": pa.int64(),
    "end": pa.int64(),
    "label": pa.string(),
    "text": pa.string(),
    "score": pa.float64(),
    "canonical_id": pa.string(),
}
_SCHEMA = pa.schema(
    {
        "id": pa.string(),
        "text": pa.string(),
        "entities": pa.list_(pa.struct(_ENTITY)),
        "tokens": pa.list_(pa.string()),
        "ner_tags": pa.list_(pa.int64()),
        "sentences": pa.list_(pa.int64()),
    }
)


# ---- writing --------------------------------------------------------------------------------


def write(corpus: Corpus, out: IO[bytes], options: WriteOptions) -> WriteReport:
    """Write one row per document; what is not known about one that is not annotated is null."""
    types = sorted({e.entity_type for given in corpus.entities.values() for e in given})
    names = ["O", *(f"{prefix}-{name}" for name in types for prefix in "BI")]
    numbers = {name: i for i, name in enumerate(names)}
    counts = FitCounts()
    rows = [_row(d, corpus.entities.get(d.id), numbers, counts) for d in corpus.documents]
    metadata = {"huggingface": json.dumps({"info": {"features": _features(names)}})}
    table = pa.Table.from_pylist(rows, _SCHEMA).replace_schema_metadata(metadata)
    pq.write_table(table, out, compression="zstd")
    notes = [f"ner_tags: {note}" for note in counts.notes]
    if lost := overview(corpus).lost:
        notes.append(f"{lost:,} entities left out: the text of their document is not here")
    written = sum(len(corpus.entities.get(d.id, ())) for d in corpus.documents)
    return WriteReport(written, tuple(notes))


def _row(
    document: Document,
    entities: tuple[Entity, ...] | None,
    numbers: dict[str, int],
    counts: FitCounts,
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": without_surrogates(document.id),
        "text": without_surrogates(document.text),
        "tokens": list(map(without_surrogates, document.tokens)),
        "sentences": list(document.layout.sentences[:-1]),  # the first token of each
    }
    if entities is None:
        return row
    fitted = fit(document, entities)
    counts.add(fitted)
    row["entities"] = [
        {
            "start": entity.start,
            "end": entity.end,
            "label": without_surrogates(entity.entity_type),
            "text": without_surrogates(surface(document, entity)),
            "score": entity.score,
            "canonical_id": without_surrogates(entity.canonical_id) or None,
        }
        for entity in entities
    ]
    row["ner_tags"] = [
        numbers[tag]
        for sentence, spans in zip(document.sentences, fitted.spans, strict=True)
        for tag in tags_from_spans(spans, len(sentence))
    ]
    return row


def _features(names: Iterable[str]) -> dict[str, Any]:
    """Return the columns as Hugging Face describes them; a list of tags has their names."""
    values = {"int64": "int64", "string": "string", "double": "float64"}
    entity = {
        name: {"dtype": values[str(kind)], "_type": "Value"} for name, kind in _ENTITY.items()
    }
    text = {"dtype": "string", "_type": "Value"}
    number = {"dtype": "int64", "_type": "Value"}
    tag = {"names": [without_surrogates(name) for name in names], "_type": "ClassLabel"}
    return {
        "id": text,
        "text": text,
        "entities": [entity],
        "tokens": {"feature": text, "_type": "Sequence"},
        "ner_tags": {"feature": tag, "_type": "Sequence"},
        "sentences": {"feature": number, "_type": "Sequence"},
    }


# ---- reading --------------------------------------------------------------------------------


def read(file: Source, options: ReadOptions) -> Corpus:
    """Return the documents of a Parquet file with a text column, and their entities if any."""
    try:
        table = _table(file, options)
        documents = [_document(row, i, file.name) for i, row in enumerate(table, start=1)]
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        if isinstance(error, InputError):
            raise
        raise damaged(file.name, "Parquet", error) from error
    return read_drafts(PackedReading(file.name, _NAME, documents), file.name, file.limits)


def _table(file: Source, options: ReadOptions) -> list[dict[str, Any]]:
    limits = file.limits
    with pq.ParquetFile(io.BytesIO(read_whole(file).data)) as stored:
        metadata, schema = stored.metadata, stored.schema_arrow
        size = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
        if size > limits.zip_unpacked_mb * 1_000_000:
            raise InputError(
                f"{file.name} unpacks to more than {limits.zip_unpacked_mb:,} MB. "
                "Split it into smaller files",
                "no_limits",
            )
        refuse_many(file.name, "documents", metadata.num_rows, limits)
        names = schema.names
        text = _column(file.name, names, options.text_column, TEXT_KEYS, "text_column")
        if text is None:
            raise InputError(
                f"No text column found in {file.name}. Columns: {', '.join(names)[:160]}",
                "text_column",
            )
        id = _column(file.name, names, options.id_column, ID_KEYS, "id_column")
        wanted = {"text": text, "id": id, "entities": "entities" if "entities" in names else None}
        chosen = {ours: theirs for ours, theirs in wanted.items() if theirs}
        rows = stored.read(columns=list(chosen.values())).to_pylist()
    return [{ours: row[theirs] for ours, theirs in chosen.items()} for row in rows]


def _column(
    name: str, names: list[str], asked: str | None, usual: tuple[str, ...], fix: str
) -> str | None:
    if asked and asked not in names:
        raise InputError(f'{name} has no column "{asked}". Columns: {", ".join(names)[:160]}', fix)
    place = find_column(tuple(names), (asked,) if asked else usual)
    return None if place is None else names[place]


def _document(row: dict[str, Any], number: int, name: str) -> PackedDocument:
    text, id, spans = row["text"], row.get("id"), row.get("entities")
    if not isinstance(text, str):
        raise InputError(f"{name}: row {number:,} has no text. Fill it in")
    id = str(number) if id is None or id == "" else str(id)
    try:
        entities = None if spans is None else tuple(_entity(span, text) for span in spans)
    except InputError as error:
        raise InputError(f"{name}: row {number:,}: {error}") from None
    return PackedDocument(id, text, entities)


def _entity(span: object, text: str) -> Entity:
    if not isinstance(span, dict) or not isinstance(span.get("label"), str) or not span["label"]:
        raise InputError("an entity has no label. Give it a name")
    start, end = check_offsets(span, text, "entity")
    score = span.get("score")
    is_score = isinstance(score, float) and math.isfinite(score) and 0 <= score <= 1
    return Entity(
        start,
        end,
        span["label"],
        score=score if is_score else None,
        method="gold",
        canonical_id=str(span.get("canonical_id") or ""),
    )


FORMAT = Format(
    _NAME,
    "Parquet for Hugging Face datasets, one row per document",
    (".parquet",),
    read,
    write,
)
