"""doccano's JSON lines, as it exports and imports them."""

from typing import IO, Any

from engine.files import SourceFile
from engine.formats.contract import Format, WriteOptions, WriteReport
from engine.formats.ids import as_object, find_id, find_text
from engine.formats.json_spans import (
    Content,
    build_corpus,
    read_spans,
    span_list,
    write_lines,
)
from engine.json_records import read_records
from engine.settings import ReadOptions
from engine.text import Corpus, Document, Entity

_NAME = "doccano"
_SPAN_KEYS = ("label", "labels", "entities")  # as its versions came to call them


def read(file: SourceFile, options: ReadOptions) -> Corpus:
    """Return the examples of a doccano export as documents with gold entities."""
    records = read_records(file, options)
    return build_corpus(file, options, format=_NAME, records=records, parse=_parse)


def write(corpus: Corpus, out: IO[bytes], options: WriteOptions) -> WriteReport:
    """Write one example a document; a document not annotated has no "label"."""
    return write_lines(corpus, out, _record)


def _parse(value: object, options: ReadOptions) -> Content:
    record = as_object(value)
    text, text_key = find_text(record, options)
    id, id_key = find_id(options, record)
    found = next((record[key] for key in _SPAN_KEYS if record.get(key) is not None), None)
    entities = None if found is None else read_spans(found, text)
    return Content(text, text_key, id, id_key, entities)


def _record(document: Document, entities: tuple[Entity, ...] | None) -> dict[str, Any]:
    record: dict[str, Any] = {"id": document.id, "text": document.text}
    if entities is not None:
        record["label"] = [span_list(document, entity) for entity in entities]
    return record | {"Comments": []}


FORMAT = Format(_NAME, "doccano: JSON lines with a list of labels", (".jsonl",), read, write)
