"""Read and write Prodigy's JSON lines: text, tokens and spans; given tokens are kept."""

from bisect import bisect_right
from functools import partial
from typing import IO, Any

from engine.files import Text
from engine.formats.contract import (
    Format,
    Overview,
    Pairs,
    WriteOptions,
    WriteReport,
    whole_reader,
    whole_writer,
)
from engine.formats.ids import as_object, find_id, find_text, quoted
from engine.formats.json_spans import (
    Content,
    JsonReading,
    check_offsets,
    dump,
    read_spans,
    span_record,
)
from engine.settings import ReadOptions
from engine.text import Document, Entity, InputError, Layout, make_document, split_sentences

_NAME = "prodigy"
_Bounds = tuple[int, int]  # where a token begins and ends in the document


def reading(text: Text, options: ReadOptions) -> JsonReading:
    """Return a pass over Prodigy tasks; rejected and ignored ones are text without gold."""
    return JsonReading(text, options, format=_NAME, parse=_parse)


read = whole_reader(reading)


def write_each(
    pairs: Pairs, out: IO[bytes], options: WriteOptions, overview: Overview
) -> WriteReport:
    """Write one task per document; spans count characters and, where they fit, tokens."""
    rows = loose = 0
    for document, entities in pairs:
        record = _record(document, entities)
        rows += 1
        loose += sum("token_start" not in span for span in record.get("spans", ()))
        out.write(dump(record) + b"\n")
    note = f"{loose:,} spans begin or end inside a token; they are written without token numbers"
    return WriteReport(rows, (note,) if loose else ())


write = whole_writer(write_each)


def _parse(value: object, options: ReadOptions) -> Content:
    record = as_object(value)
    text, text_key = find_text(record, options)
    id, id_key = find_id(options, record.get("meta"), record)
    answer, spans, tokens = record.get("answer"), record.get("spans"), record.get("tokens")
    content = partial(Content, text, text_key, id, id_key)
    if tokens:
        content = partial(content, build=partial(_document, sentences=_read_tokens(tokens, text)))
    entities = read_spans(spans or [], text)
    if answer in ("reject", "ignore"):
        return content(remarks=(f'records are answered "{answer}": kept as text, not as gold',))
    # Prodigy leaves "spans" out of an accepted task in which nothing was marked.
    is_annotated = spans is not None or answer == "accept"
    return content(entities=entities if is_annotated else None)


def _read_tokens(tokens: object, text: str) -> list[list[_Bounds]]:
    """Return the bounds of given tokens by sentence: by their "sent", else by our own split."""
    if not isinstance(tokens, list):
        raise InputError(f"tokens are {quoted(tokens)}, expected a list of them. Correct it")
    is_split = all(isinstance(token, dict) and "sent" in token for token in tokens)
    starts = [] if is_split else [start for start, _ in split_sentences(text)]
    sentences: list[list[_Bounds]] = []
    reached, current = 0, None
    for value in tokens:
        token = as_object(value, "a token")
        start, end = check_offsets(token, text, "token")
        if start < reached:
            raise InputError(f"token {start}..{end} overlaps the one before it. Correct it")
        reached = end
        # spaCy has tokens of white space only; here white space lies between tokens.
        if "sent" not in token and text[start:end].isspace():
            continue
        sentence = token.get("sent", bisect_right(starts, start))
        if not sentences or sentence != current:
            sentences.append([])
        sentences[-1].append((start, end))
        current = sentence
    return sentences


def _document(id: str, text: str, sentences: list[list[_Bounds]]) -> Document:
    """Return a document with our own tokens if the given ones are the same, else with those."""
    given = Layout.of(sentences)
    own = make_document(id, text)
    return own if own.layout == given else Document(id, text, given, tokens_given=True)


def _record(document: Document, entities: tuple[Entity, ...] | None) -> dict[str, Any]:
    tokens = _token_records(document)
    record: dict[str, Any] = {"text": document.text, "tokens": tokens}
    if entities is not None:
        first = {token["start"]: token["id"] for token in tokens}
        last = {token["end"]: token["id"] for token in tokens}
        record["spans"] = [_span(document, entity, first, last) for entity in entities]
        record["answer"] = "accept"
    return record | {"meta": {"doc_id": document.id}}


def _token_records(document: Document) -> list[dict[str, Any]]:
    tokens: list[dict[str, Any]] = []
    for sentence in document.sentences:
        for token, start, end in zip(sentence.tokens, *sentence.token_bounds(), strict=True):
            place = {"start": start, "end": end, "id": len(tokens), "sent": sentence.index}
            tokens.append({"text": token, **place})
    return tokens


def _span(
    document: Document, entity: Entity, first: dict[int, int], last: dict[int, int]
) -> dict[str, Any]:
    record = span_record(document, entity)
    if entity.start in first and entity.end in last:
        # Prodigy's token_end is the last token itself, unlike its character end.
        record["token_start"], record["token_end"] = first[entity.start], last[entity.end]
    return record


FORMAT = Format(
    _NAME,
    "Prodigy: JSON lines with tokens and spans",
    (".jsonl",),
    read,
    write,
    reading,
    write_each,
)
