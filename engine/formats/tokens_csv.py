"""Tokens become the rows of a CSV file, and such rows documents of given tokens."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, islice
from typing import IO, NamedTuple

from engine.delimited import find_column
from engine.files import SourceFile
from engine.formats.contract import Format, WriteOptions, WriteReport
from engine.formats.entities_csv import whole_number
from engine.formats.plain_text import fault_notes, parse_lines
from engine.formats.tagging import check_tag, fit, fit_notes
from engine.formats.text_table import read_guarded_table, row_writer
from engine.settings import ReadOptions
from engine.text import (
    Corpus,
    Document,
    Entity,
    FileReport,
    Fitted,
    InputError,
    Sentence,
    entities_from_spans,
    spans_from_tags,
    tags_from_spans,
)

_COLUMNS = ("doc_id", "sent_id", "token_id", "token", "start", "end")
_NEEDED = ("doc_id", "sent_id", "token", "start", "end")
_METHODS = ("dictionary", "mpn", "mpu", "conf_mpu", "gold", "review")
_LARGEST_GAP = 100_000  # characters without a token; more is a slip, and would fill the memory


class _Token(NamedTuple):
    line: int
    document_id: str
    sentence_id: str
    text: str
    start: int
    end: int
    tags: tuple[str, ...]  # one a tag column; all "" in a document that is not annotated


# ---- writing --------------------------------------------------------------------------------


def write(corpus: Corpus, out: IO[bytes], options: WriteOptions) -> WriteReport:
    """Write one row a token, with a tag column for each method among the entities."""
    methods = _methods(corpus)
    write_row = row_writer(out, options)
    write_row([*_COLUMNS, *(f"tag_{method}" if method else "tag" for method in methods)])
    fits: list[Fitted] = []
    rows = 0
    for document in corpus.documents:
        given = corpus.entities.get(document.id, ())
        fitted = [fit(document, (e for e in given if e.method == method)) for method in methods]
        fits += [replace(of_method, spans=()) for of_method in fitted]
        for i, sentence in enumerate(document.sentences):
            tags = [tags_from_spans(of.spans[i], len(sentence.tokens)) for of in fitted]
            if document.id not in corpus.entities:
                tags = [[""] * len(sentence.tokens) for _ in methods]
            for row in _rows(sentence, tags):
                write_row(row)
                rows += 1
    empty = sum(not document.sentences for document in corpus.documents)
    lost = (f"{empty:,} documents without a token are not in the file",) if empty else ()
    return WriteReport(rows, (*fit_notes(fits), *lost))


def _methods(corpus: Corpus) -> list[str]:
    """Methods in their fixed order; one without a name when documents are annotated as empty."""
    found = {entity.method for entities in corpus.entities.values() for entity in entities}
    if corpus.entities and not found:
        return [""]
    return [m for m in _METHODS if m in found] + sorted(found - set(_METHODS))


def _rows(sentence: Sentence, tags: Sequence[Sequence[str]]) -> Iterable[list[object]]:
    for i, token in enumerate(sentence.tokens):
        start = sentence.start + sentence.starts[i]
        place = [sentence.document_id, sentence.index, i, token, start, start + len(token)]
        yield [*place, *(column[i] for column in tags)]


# ---- reading --------------------------------------------------------------------------------


def read(file: SourceFile, options: ReadOptions) -> Corpus:
    """Return documents built from tokens and offsets, with the entities of every tag column."""
    table = read_guarded_table(file, options)
    header = table.rows[0].cells
    columns = _columns(file.name, header)
    tag_columns = [i for i, cell in enumerate(header) if cell == "tag" or cell.startswith("tag_")]
    methods = [header[i].removeprefix("tag").removeprefix("_") for i in tag_columns]
    rows = ((row.line, (row.line, row.cells)) for row in table.rows[1:])
    tokens, faults = parse_lines(file.name, rows, partial(_token, columns, tag_columns), options)
    by_document: dict[str, list[_Token]] = {}
    for token in tokens:
        by_document.setdefault(token.document_id, []).append(token)
    documents = tuple(_document(file.name, id, of) for id, of in by_document.items())
    entities = {
        document.id: _entities(document, methods, by_document[document.id])
        for document in documents
        if any(any(token.tags) for token in by_document[document.id])
    }
    report = FileReport(
        name=file.name,
        format="tokens",
        encoding=table.encoding,
        delimiter=table.delimiter,
        text_column=header[columns["token"]],
        id_column=header[columns["doc_id"]],
        documents=len(documents),
        entities=sum(map(len, entities.values())),
        notes=(*table.notes, *fault_notes(faults), *([] if tokens else ["holds no tokens"])),
    )
    return Corpus(documents, entities, (report,))


def _columns(name: str, header: tuple[str, ...]) -> dict[str, int]:
    found = {column: find_column(header, (column,)) for column in _NEEDED}
    missing = [column for column, i in found.items() if i is None]
    if missing:
        raise InputError(
            f"No {missing[0]} column found in {name}. Columns: {', '.join(header)}. "
            f"Tokens need {', '.join(_NEEDED)}"
        )
    return {column: i for column, i in found.items() if i is not None}


def _token(
    columns: dict[str, int], tag_columns: list[int], row: tuple[int, tuple[str, ...]]
) -> _Token:
    line, cells = row
    document_id, sentence_id, token, *offsets = (cells[columns[name]] for name in _NEEDED)
    start, end = map(whole_number, ("start", "end"), offsets)
    if not token or end - start != len(token):
        raise InputError(
            f'"{token[:40]}" has {len(token)} characters, its offsets {start}-{end} have '
            f"{end - start}. Correct it"
        )
    tags = tuple(cells[i] for i in tag_columns)
    for tag in filter(None, tags):
        check_tag(tag)
    return _Token(line, document_id, sentence_id, token, start, end, tags)


def _document(name: str, id: str, tokens: list[_Token]) -> Document:
    """Put the tokens at their offsets: gaps are spaces, with a line break between sentences."""
    pieces: list[str] = []
    sentence_id, position = tokens[0].sentence_id, 0
    for token in tokens:
        _check_place(name, token, position)
        if token.start > position:
            first = " " if token.sentence_id == sentence_id else "\n"
            pieces.append(first + " " * (token.start - position - 1))
        pieces.append(token.text)
        sentence_id, position = token.sentence_id, token.end
    text = "".join(pieces)
    groups = [list(group) for _, group in groupby(tokens, key=lambda token: token.sentence_id)]
    sentences = tuple(_sentence(text, index, group) for index, group in enumerate(groups))
    return Document(id, text, sentences, tokens_given=True)


def _check_place(name: str, token: _Token, position: int) -> None:
    if not position <= token.start <= position + _LARGEST_GAP:
        raise InputError(
            f'{name} line {token.line:,}: "{token.text[:40]}" begins at {token.start:,}, but the '
            f"token above it ends at {position:,}. Sort the rows by start, or correct it"
        )


def _sentence(text: str, index: int, tokens: list[_Token]) -> Sentence:
    start, end = tokens[0].start, tokens[-1].end
    return Sentence(
        document_id=tokens[0].document_id,
        index=index,
        start=start,
        text=text[start:end],
        tokens=tuple(sys.intern(token.text) for token in tokens),
        starts=tuple(token.start - start for token in tokens),
    )


def _entities(
    document: Document, methods: Sequence[str], tokens: Sequence[_Token]
) -> tuple[Entity, ...]:
    found: list[Entity] = []
    for column, method in enumerate(methods):
        tags = iter(token.tags[column] or "O" for token in tokens)
        for sentence in document.sentences:
            spans = spans_from_tags(list(islice(tags, len(sentence.tokens))))
            found += entities_from_spans(sentence, spans, method)
    return tuple(found)


FORMAT = Format("tokens", "CSV, one row a token", (".csv",), read=read, write=write)
