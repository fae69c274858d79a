"""Read and write JSON records with spans, and name faults by line."""

import json
import math
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any

from engine.files import Record, RecordReading, Text
from engine.formats.contract import EachWriter, Overview, Pairs, WriteOptions, WriteReport, surface
from engine.formats.drafts import Draft, Faults, Totals
from engine.formats.ids import as_object, find_id, find_text, quoted
from engine.settings import LIMITS, ReadOptions
from engine.text import Document, Entity, FileReport, InputError, make_document

# Fields of an entity besides offsets, type and score; a phrase is called a term in our files.
_PROVENANCE = ("method", "source", "matched_phrase", "canonical_id", "run_id", "review_status")
_NAMES_IN_FILES = {"matched_phrase": "matched_term"}


@dataclass(frozen=True, slots=True)
class Content:
    """What one record holds, before its document is built."""

    text: str
    text_key: str
    id: str = ""  # "" if the record has none
    id_key: str = ""
    entities: tuple[Entity, ...] | None = None  # None: not annotated
    build: Callable[[str, str], Document] = make_document  # from id and text
    remarks: tuple[str, ...] = ()  # counted over the file and noted as "3 <remark>"


Parse = Callable[[Any, ReadOptions], Content]
Arrange = Callable[[Iterator[Record]], Iterator[Record]]


class JsonReading:
    """One pass over the records of a file; faults are named by their line.

    `parse` returns what one record holds. `arrange` regroups the values of a file where a document
    is not one value.
    """

    def __init__(
        self,
        text: Text,
        options: ReadOptions,
        *,
        format: str,
        parse: Parse,
        arrange: Arrange | None = None,
    ) -> None:
        self._text, self._options = text, options
        self._format, self._parse, self._arrange = format, parse, arrange
        self._records = RecordReading(text, options)
        self._first: Content | None = None
        self._faults = Faults()
        self._remarks: Counter[str] = Counter()
        self._nameless = 0

    def drafts(self) -> Iterator[Draft]:
        records = self._records.records()
        records = self._arrange(records) if self._arrange else records
        fix = ""
        for number, record in enumerate(records, start=1):
            try:
                content = self._parse(record.value, self._options)
            except InputError as error:
                unit = "record" if self._text.extension == ".json" else "line"
                self._faults.add(f"{unit} {record.line:,}: {error}")
                fix = fix or error.fix
                if not self._options.skip_bad_lines:
                    deque(records, maxlen=0)  # a line that is not JSON raises first
                    message = f"{self._text.name} {self._faults.first}, or skip bad lines"
                    raise InputError(message, fix or "skip_bad_lines", "skip_bad_lines") from None
            else:
                yield self._draft(number, content)
        if self._first is None:
            fault = self._faults.first or "holds no JSON"
            raise InputError(f"{self._text.name} {fault}. Nothing could be read", fix)

    def _draft(self, number: int, content: Content) -> Draft:
        self._first = self._first or content
        self._remarks.update(content.remarks)
        self._nameless += not content.id
        entities = content.entities
        return Draft(
            content.id or f"{self._text.stem}-{number:06d}",
            lambda id: content.build(id, content.text),
            len(entities or ()),
            lambda document: entities,
        )

    def report(self, totals: Totals) -> FileReport:
        assert self._first is not None
        counts = dict(self._remarks) | {
            "records have no id; they are named after the file": self._nameless,
            "ids were used twice; ~2, ~3 … was added": totals.renamed,
            "documents hold no text": totals.wordless,
            f"sentences over {LIMITS.sentence_tokens:,} tokens were cut": totals.cut,
        }
        return FileReport(
            name=self._text.name,
            format=self._format,
            encoding=self._text.encoding,
            text_column=self._first.text_key,
            id_column=self._first.id_key,
            documents=totals.documents,
            entities=totals.entities,
            notes=(
                *self._records.notes,
                *self._faults.notes("records"),
                *(f"{count:,} {what}" for what, count in counts.items() if count),
            ),
        )


def record_parser(*span_keys: str) -> Parse:
    """Return a parser of objects that hold a text, and spans under one of these keys."""

    def parse(value: object, options: ReadOptions) -> Content:
        record = as_object(value)
        text, text_key = find_text(record, options)
        id, id_key = find_id(options, record)
        spans = next((record[key] for key in span_keys if record.get(key) is not None), None)
        entities = None if spans is None else read_spans(spans, text)
        return Content(text, text_key, id, id_key, entities)

    return parse


def read_spans(values: object, text: str, method: str = "gold") -> tuple[Entity, ...]:
    """Return entities from ``[start, end, type]`` lists or objects with the same fields."""
    if not isinstance(values, list):
        raise InputError(f"spans are {quoted(values)}, expected a list of them. Correct it")
    return tuple(_read_span(value, text, method) for value in values)


def check_offsets(span: dict[str, Any], text: str, what: str = "span") -> tuple[int, int]:
    """Return the offsets of `span` if they lie in `text` and fit the surface it names, if any."""
    start: Any = span.get("start", span.get("start_offset"))
    end: Any = span.get("end", span.get("end_offset"))
    fault = ""
    if type(start) is not int or type(end) is not int:
        fault = ": offsets must be whole numbers"
    elif end <= start:
        fault = " does not end after it begins"
    elif start < 0 or end > len(text):
        fault = f" lies outside the text ({len(text):,} characters)"
    elif (said := span.get("text")) is not None and said != text[start:end]:
        fault = f" should be {quoted(said)} but the text there is {quoted(text[start:end])}"
    if fault:
        raise InputError(
            f"{what} {quoted(start)}..{quoted(end)}{fault}. "
            "Offsets count characters from 0, the end is not included. Correct it"
        )
    return start, end


def _read_span(value: object, text: str, method: str) -> Entity:
    if isinstance(value, list) and len(value) >= 3:
        value = dict(zip(("start", "end", "label"), value, strict=False))
    span = as_object(value, "a span")
    start, end = check_offsets(span, text)
    label = span.get("label")
    if not isinstance(label, str) or not label.strip():
        raise InputError(f"span {start}..{end} has the label {quoted(label)}. Give it a name")
    known = {field: span.get(_NAMES_IN_FILES.get(field, field)) for field in _PROVENANCE}
    strings: dict[str, Any] = {f: said for f, said in known.items() if isinstance(said, str)}
    listed = span.get("in_dictionary")
    in_dictionary = listed if isinstance(listed, bool) else None
    origin = {"method": method, "in_dictionary": in_dictionary, **strings}
    return Entity(start, end, label, _read_score(span.get("score")), **origin)


def _read_score(score: object) -> float | None:
    if score is None:
        return None
    # NaN, the infinities and huge integers fail this comparison too.
    if not isinstance(score, int | float) or not 0 <= score <= 1:
        raise InputError(f"the score {quoted(score)} is not a number from 0 to 1. Correct it")
    return float(score)


def span_record(document: Document, entity: Entity) -> dict[str, Any]:
    """Return an entity as an object: offsets, type, surface, and where it came from if known."""
    record: dict[str, Any] = {
        "start": entity.start,
        "end": entity.end,
        "label": entity.entity_type,
        "text": surface(document, entity),
    }
    if (score := written_score(entity)) is not None:
        record["score"] = score
    if entity.in_dictionary is not None:
        record["in_dictionary"] = entity.in_dictionary
    for field in _PROVENANCE:
        if value := getattr(entity, field):
            record[_NAMES_IN_FILES.get(field, field)] = value
    return record


def span_list(document: Document, entity: Entity) -> list[Any]:
    """Return an entity as ``[start, end, type]``, its offsets checked."""
    surface(document, entity)
    return [entity.start, entity.end, entity.entity_type]


def written_score(entity: Entity) -> float | None:
    """Return the score to four decimals; None if there is none, or JSON cannot hold it."""
    if entity.score is None or not math.isfinite(entity.score):
        return None
    return round(entity.score, 4)


def line_writer(record: Callable[[Document, tuple[Entity, ...] | None], Any]) -> EachWriter:
    """Return a writer of one JSON value per document; `record` gets None if not annotated."""

    def write_each(
        pairs: Pairs, out: IO[bytes], options: WriteOptions, overview: Overview
    ) -> WriteReport:
        rows = given = 0
        for document, entities in pairs:
            out.write(dump(record(document, entities)) + b"\n")
            rows += 1
            given += document.tokens_given
        return WriteReport(rows, lost_tokens(given))

    return write_each


def dump(value: object) -> bytes:
    """Return a value as JSON in UTF-8; NaN is an error, because JSON has none."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


def lost_tokens(count: int) -> tuple[str, ...]:
    """Return a note if documents came with tokens, which this kind of format does not hold."""
    note = f"{count:,} documents came as tokens; their text is written, their tokens are not"
    return (note,) if count else ()
