"""spaCy's training pairs of a text and its entities, one a line; spaCy itself is not needed."""

from dataclasses import replace
from typing import IO, Any

from engine.files import SourceFile
from engine.formats.contract import Format, WriteOptions, WriteReport
from engine.formats.ids import find_id, quoted
from engine.formats.json_spans import (
    Content,
    build_corpus,
    read_spans,
    span_list,
    write_lines,
)
from engine.json_records import Record, read_records
from engine.settings import ReadOptions
from engine.text import Corpus, Document, Entity, InputError

_NAME = "spacy"


def read(file: SourceFile, options: ReadOptions) -> Corpus:
    """Return pairs of text and annotations as documents with gold entities."""
    records = read_records(file, options)
    # A file of one pair is itself a JSON list, and comes as a text and an object.
    values = [record.value for record in records.items]
    if [type(value) for value in values] == [str, dict]:
        records = replace(records, items=(Record(1, values),))
    return build_corpus(file, options, format=_NAME, records=records, parse=_parse)


def write(corpus: Corpus, out: IO[bytes], options: WriteOptions) -> WriteReport:
    """Write one pair a document; a document not annotated has no "entities"."""
    return write_lines(corpus, out, _record)


def _parse(value: object, options: ReadOptions) -> Content:
    if not isinstance(value, list) or [type(part) for part in value] != [str, dict]:
        raise InputError(f'found {quoted(value)}, expected [text, {{"entities": …}}]. Correct it')
    text, annotations = value
    id, id_key = find_id(options, annotations)
    found = annotations.get("entities")
    entities = None if found is None else read_spans(found, text)
    return Content(text, "", id, id_key, entities)


def _record(document: Document, entities: tuple[Entity, ...] | None) -> list[Any]:
    annotations: dict[str, Any] = {"doc_id": document.id}
    if entities is not None:
        annotations["entities"] = [span_list(document, entity) for entity in entities]
    return [document.text, annotations]


FORMAT = Format(_NAME, "spaCy: JSON lines of [text, entities]", (".jsonl",), read, write)
