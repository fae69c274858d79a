"""JSON records with spans become a corpus and go back, their faults named by line."""

import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

from engine.files import SourceFile
from engine.formats.contract import WriteReport, surface
from engine.formats.ids import as_object, quoted, unique_ids
from engine.json_records import Records
from engine.settings import LIMITS, ReadOptions
from engine.text import Corpus, Document, Entity, FileReport, InputError
from engine.tokenization import make_document

# What an entity carries beside offsets, type and score; a phrase is a term in our files.
_PROVENANCE = ("method", "source", "matched_phrase", "canonical_id", "run_id", "review_status")
_NAMES_IN_FILES = {"matched_phrase": "matched_term"}


@dataclass(frozen=True, slots=True)
class Content:
    """What one record says, before its document has a place in the corpus."""

    text: str
    text_key: str
    id: str = ""  # "" when the record names none
    id_key: str = ""
    entities: tuple[Entity, ...] | None = None  # None: not annotated
    build: Callable[[str, str], Document] = make_document  # from id and text
    remarks: tuple[str, ...] = ()  # counted over the file, then noted as "3 <remark>"


Parse = Callable[[Any, ReadOptions], Content]


def build_corpus(
    file: SourceFile, options: ReadOptions, *, format: str, records: Records, parse: Parse
) -> Corpus:
    """Return the records of `file` as documents and entities, faults named by their line."""
    contents, notes = _parse_all(file, options, records, parse)
    ids, renamed = unique_ids(c.id or f"{file.stem}-{n:06d}" for n, c in contents)
    named = [(id, content) for id, (_, content) in zip(ids, contents, strict=True)]
    documents = tuple(content.build(id, content.text) for id, content in named)
    entities = {id: content.entities for id, content in named if content.entities is not None}
    remarks = Counter(remark for _, content in named for remark in content.remarks)
    remarks["records have no id; they are named after the file"] = sum(
        not content.id for _, content in named
    )
    remarks["ids were used twice; ~2, ~3 … was added"] = renamed
    remarks["documents hold no text"] = sum(not document.sentences for document in documents)
    remarks[f"sentences over {LIMITS.sentence_tokens:,} tokens were cut"] = sum(
        document.cut_sentences for document in documents
    )
    first = named[0][1]
    report = FileReport(
        name=file.name,
        format=format,
        encoding=records.encoding,
        text_column=first.text_key,
        id_column=first.id_key,
        documents=len(documents),
        entities=sum(map(len, entities.values())),
        notes=(*records.notes, *notes, *(f"{n:,} {what}" for what, n in remarks.items() if n)),
    )
    return Corpus(documents, entities, (report,))


def read_spans(values: object, text: str, method: str = "gold") -> tuple[Entity, ...]:
    """Return entities from ``[start, end, type]`` lists or objects that name the same."""
    if not isinstance(values, list):
        raise InputError(f"spans are {quoted(values)}, expected a list of them. Correct it")
    return tuple(_read_span(value, text, method) for value in values)


def check_offsets(span: dict[str, Any], text: str, what: str = "span") -> tuple[int, int]:
    """Return the offsets of `span` if they lie in `text`, on the surface that it names, if any."""
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


def _parse_all(
    file: SourceFile, options: ReadOptions, records: Records, parse: Parse
) -> tuple[list[tuple[int, Content]], list[str]]:
    """The content of each record with its number, and a note on those left out."""
    contents: list[tuple[int, Content]] = []
    faults: list[str] = []
    fix = ""
    unit = "record" if file.extension == ".json" else "line"
    for number, record in enumerate(records.items, start=1):
        try:
            contents.append((number, parse(record.value, options)))
        except InputError as error:
            faults.append(f"{unit} {record.line:,}: {error}")
            if not options.skip_bad_lines:
                message = f"{file.name} {faults[0]}, or skip bad lines"
                raise InputError(message, error.fix or "skip_bad_lines") from None
            fix = fix or error.fix
    if not contents:
        fault = faults[0] if faults else "holds no JSON"
        raise InputError(f"{file.name} {fault}. Nothing could be read", fix)
    return contents, [f"{len(faults):,} records left out, e.g. {faults[0]}"] if faults else []


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
    # A comparison that NaN, the infinities and endless integers fail as well.
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
    """Return the score to four decimals; None when there is none, or no number JSON can hold."""
    if entity.score is None or not math.isfinite(entity.score):
        return None
    return round(entity.score, 4)


def write_lines(
    corpus: Corpus,
    out: IO[bytes],
    record: Callable[[Document, tuple[Entity, ...] | None], Any],
) -> WriteReport:
    """Write one JSON value a document; `record` is given None for a document not annotated."""
    for document in corpus.documents:
        out.write(dump(record(document, corpus.entities.get(document.id))) + b"\n")
    return WriteReport(len(corpus.documents), lost_tokens(corpus))


def dump(value: object) -> bytes:
    """Return a value as JSON in UTF-8; NaN is an error, because JSON has none."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


def lost_tokens(corpus: Corpus) -> tuple[str, ...]:
    """Return a note when documents came with tokens, which a format of text and spans lacks."""
    count = sum(document.tokens_given for document in corpus.documents)
    note = f"{count:,} documents came as tokens; their text is written, their tokens are not"
    return (note,) if count else ()
