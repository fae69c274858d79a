"""Read and write plain JSON records of id, text and entities, without losing anything."""

from typing import Any

from engine.files import Text
from engine.formats.contract import Format, whole_reader, whole_writer
from engine.formats.json_spans import JsonReading, line_writer, record_parser, span_record
from engine.settings import ReadOptions
from engine.text import Document, Entity

_NAME = "jsonl"
_parse = record_parser("entities")


def reading(text: Text, options: ReadOptions) -> JsonReading:
    """Return a pass over the records of a JSON or JSON-lines file."""
    return JsonReading(text, options, format=_NAME, parse=_parse)


read = whole_reader(reading)


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
