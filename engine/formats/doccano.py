"""Read and write doccano's JSON lines."""

from typing import Any

from engine.files import Text
from engine.formats.contract import Format, whole_reader, whole_writer
from engine.formats.json_spans import JsonReading, line_writer, record_parser, span_list
from engine.settings import ReadOptions
from engine.text import Document, Entity

_NAME = "doccano"
_parse = record_parser("label", "labels", "entities")  # the names in its different versions


def reading(text: Text, options: ReadOptions) -> JsonReading:
    """Return a pass over the examples of a doccano export, with gold entities."""
    return JsonReading(text, options, format=_NAME, parse=_parse)


read = whole_reader(reading)


def _record(document: Document, entities: tuple[Entity, ...] | None) -> dict[str, Any]:
    record: dict[str, Any] = {"id": document.id, "text": document.text}
    if entities is not None:
        record["label"] = [span_list(document, entity) for entity in entities]
    return record | {"Comments": []}


# One example per document; a document that is not annotated has no "label".
write_each = line_writer(_record)
write = whole_writer(write_each)

FORMAT = Format(
    _NAME,
    "doccano: JSON lines with a list of labels",
    (".jsonl",),
    read,
    write,
    reading,
    write_each,
)
