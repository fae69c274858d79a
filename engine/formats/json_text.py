"""Read and write plain JSON records of id, text and entities, without losing anything."""

from typing import Any

from engine.files import Text
from engine.formats.contract import Format, whole_reader, whole_writer
from engine.formats.ids import as_object, find_id, find_text
from engine.formats.json_spans import Content, JsonReading, line_writer, read_spans, span_record
from engine.settings import ReadOptions
from engine.text import Document, Entity

_NAME = "jsonl"


def reading(text: Text, options: ReadOptions) -> JsonReading:
    """Return a pass over the records of a JSON or JSON-lines file."""
    return JsonReading(text, options, format=_NAME, parse=_parse)


read = whole_reader(reading)


def _parse(value: object, options: ReadOptions) -> Content:
    record = as_object(value)
    text, text_key = find_text(record, options)
    id, id_key = find_id(options, record)
    spans = record.get("entities")
    entities = None if spans is None else read_spans(spans, text)
    return Content(text, text_key, id, id_key, entities)


def _record(document: Document, entities: tuple[Entity, ...] | None) -> dict[str, Any]:
    record: dict[str, Any] = {"id": document.id, "text": document.text}
    if entities is not None:
        record["entities"] = [span_record(document, entity) for entity in entities]
    return record


# One record per document; a document that is not annotated has no "entities".
write_each = line_writer(_record)
write = whole_writer(write_each)

FORMAT = Format(
    _NAME,
    "JSON lines: id, text and entities with everything known about them",
    (".jsonl", ".json"),
    read,
    write,
    reading,
    write_each,
)
