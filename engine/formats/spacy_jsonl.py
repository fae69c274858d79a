"""Read and write spaCy's training pairs, [text, entities], one per line, without spaCy."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from engine.files import Record, Text
from engine.formats.contract import Format, whole_reader, whole_writer
from engine.formats.ids import find_id, quoted
from engine.formats.json_spans import Content, JsonReading, line_writer, read_spans, span_list
from engine.settings import ReadOptions
from engine.text import Document, Entity, InputError

_NAME = "spacy"


def reading(text: Text, options: ReadOptions) -> JsonReading:
    """Return a pass over pairs of text and annotations, with gold entities."""
    return JsonReading(text, options, format=_NAME, parse=_parse, arrange=_as_pairs)


def _as_pairs(records: Iterator[Record]) -> Iterator[Record]:
    """Join the text and the object of a file with one pair, which is itself a JSON list."""
    first = list(islice(records, 3))
    values = [record.value for record in first]
    if [type(value) for value in values] == [str, dict]:
        first = [Record(1, values)]
    return chain(first, records)


read = whole_reader(reading)


def _parse(value: object, options: ReadOptions) -> Content:
    if not isinstance(value, list) or [type(part) for part in value] != [str, dict]:
        raise InputError(f'found {quoted(value)}, expected [text, {{"entities": …}}]. Correct it')
    text, annotations = value
    id, id_key = find_id(options, annotations)
    spans = annotations.get("entities")
    entities = None if spans is None else read_spans(spans, text)
    return Content(text, "", id, id_key, entities)


def _record(document: Document, entities: tuple[Entity, ...] | None) -> list[Any]:
    annotations: dict[str, Any] = {"doc_id": document.id}
    if entities is not None:
        annotations["entities"] = [span_list(document, entity) for entity in entities]
    return [document.text, annotations]


# One pair per document; a document that is not annotated has no "entities".
write_each = line_writer(_record)
write = whole_writer(write_each)

FORMAT = Format(
    _NAME, "spaCy: JSON lines of [text, entities]", (".jsonl",), read, write, reading, write_each
)
