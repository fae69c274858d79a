"""Read and write doccano's JSON lines."""

from typing import Any

from engine.files import Text
from engine.formats.contract import Format, whole_reader, whole_writer
from engine.formats.ids import as_object, find_id, find_text
from engine.formats.json_spans import Content, JsonReading, line_writer, read_spans, span_list
from engine.settings import ReadOptions
from engine.text import Document, Entity

_NAME = "doccano"
_SPAN_KEYS = ("label", "labels", "entities")  # the names in its different versions


def reading(text: Text, options: ReadOptions) -> JsonReading:
    """Return a pass over the examples of a doccano export, with gold entities."""
    return JsonReading(text, options, format=_NAME, parse=_parse)


read = whole_reader(reading)


def _parse(value: object, options: ReadOptions) -> Content:
    record = as_object(value)
    text, text_key = find_text(record, options)
    id, id_key = find_id(options, record)
    spans = next((record[key] for key in _SPAN_KEYS if record.get(key) is not None), None)
    entities = None if spans is None else read_spans(spans, text)
    return Content(text, text_key, id, id_key, entities)


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
