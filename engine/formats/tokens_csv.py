"""Read and write tokens as CSV, one row per token; given tokens are kept."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import IO, NamedTuple

from engine.files import Text, find_column
from engine.formats.contract import (
    Format,
    Overview,
    Pairs,
    WriteOptions,
    WriteReport,
    whole_reader,
    whole_writer,
)
from engine.formats.drafts import Draft, Faults, Totals
from engine.formats.entities_csv import whole_number
from engine.formats.plain_text import parse_lines
from engine.formats.tagging import FitCounts, check_tag, fit
from engine.formats.text_table import GuardedTable, row_writer
from engine.settings import METHODS, ReadOptions
from engine.text import (
    Document,
    Entity,
    FileReport,
    InputError,
    Layout,
    Sentence,
    entities_from_spans,
    spans_from_tags,
    tags_from_spans,
)

_COLUMNS = ("doc_id", "sent_id", "token_id", "token", "start", "end")
_NEEDED = ("doc_id", "sent_id", "token", "start", "end")
_METHODS = ("dictionary", *METHODS, "gold", "review")
_LARGEST_GAP = 100_000  # characters without a token; more is an error that would fill the memory


class _Token(NamedTuple):
    line: int
    document_id: str
    sentence_id: str
    text: str
    start: int
    end: int
    tags: tuple[str, ...]  # one per tag column; all "" in a document that is not annotated


# ---- writing --------------------------------------------------------------------------------


def write_each(
    pairs: Pairs, out: IO[bytes], options: WriteOptions, overview: Overview
) -> WriteReport:
    """Write one row per token, with a tag column for each method among the entities."""
    methods = _methods(overview)
    write_row = row_writer(out, options)
    write_row([*_COLUMNS, *(f"tag_{method}" if method else "tag" for method in methods)])
    fits = FitCounts()
    rows = empty = 0
    for document, given in pairs:
        fitted = [
            fit(document, (e for e in given or () if e.method == method)) for method in methods
        ]
        fits.add(*fitted)
        empty += not document.sentences
        for i, sentence in enumerate(document.sentences):
            tags = [tags_from_spans(f.spans[i], len(sentence)) for f in fitted]
            if given is None:
                tags = [[""] * len(sentence) for _ in methods]
            for row in _rows(sentence, tags):
                write_row(row)
                rows += 1
    lost = (f"{empty:,} documents without a token are not in the file",) if empty else ()
    return WriteReport(rows, (*fits.notes, *lost))


write = whole_writer(write_each)


def _methods(overview: Overview) -> list[str]:
    """Return the methods in fixed order; one without a name if there are no entities at all."""
    used = {method for method, _, _ in overview.kinds}
    if overview.is_annotated and not used:
        return [""]
    return [m for m in _METHODS if m in used] + sorted(used - set(_METHODS))


def _rows(sentence: Sentence, tags: Sequence[Sequence[str]]) -> Iterable[list[object]]:
    columns = zip(sentence.tokens, *sentence.token_bounds(), *tags, strict=True)
    for i, (token, start, end, *own) in enumerate(columns):
        yield [sentence.document_id, sentence.index, i, token, start, end, *own]


# ---- reading --------------------------------------------------------------------------------


class TokensReading:
    """One pass over a file, with the entities of every tag column.

    A document ends where the rows of another begin. With `is_gathered`, its rows may be anywhere in
    the file, and all rows are held in memory.
    """

    def __init__(self, text: Text, options: ReadOptions, *, is_gathered: bool = False) -> None:
        self._options, self._is_gathered = options, is_gathered
        self._table = GuardedTable(text, options)
        self._faults = Faults()
        self._token_name, self._id_name = "", ""  # of the columns

    def drafts(self) -> Iterator[Draft]:
        name, rows = self._table.text.name, self._table.rows()
        header = next(rows).cells
        try:
            columns = _columns(name, header)
        except InputError:
            deque(rows, maxlen=0)  # a fault of the table itself raises first
            raise
        self._token_name, self._id_name = header[columns["token"]], header[columns["doc_id"]]
        tags = [i for i, cell in enumerate(header) if cell == "tag" or cell.startswith("tag_")]
        methods = [header[i].removeprefix("tag").removeprefix("_") for i in tags]
        lines = ((row.line, (row.line, row.cells)) for row in rows)
        parse = partial(_token, columns, tags)
        tokens = parse_lines(name, lines, parse, self._options, self._faults)
        groups = _gathered(tokens) if self._is_gathered else _runs(tokens)
        return (_draft(name, methods, rows_of_document) for rows_of_document in groups)

    def report(self, totals: Totals) -> FileReport:
        return FileReport(
            name=self._table.text.name,
            format="tokens",
            encoding=self._table.text.encoding,
            delimiter=self._table.delimiter,
            text_column=self._token_name,
            id_column=self._id_name,
            documents=totals.documents,
            entities=totals.entities,
            notes=(
                *self._table.notes,
                *self._faults.notes(),
                *([] if totals.documents else ["holds no tokens"]),
            ),
        )


read = whole_reader(partial(TokensReading, is_gathered=True))


def _runs(tokens: Iterable[_Token]) -> Iterator[list[_Token]]:
    return (list(run) for _, run in groupby(tokens, key=lambda token: token.document_id))


def _gathered(tokens: Iterable[_Token]) -> Iterable[list[_Token]]:
    by_document: dict[str, list[_Token]] = {}
    for token in tokens:
        by_document.setdefault(token.document_id, []).append(token)
    return by_document.values()


def _draft(name: str, methods: Sequence[str], tokens: list[_Token]) -> Draft:
    text = _text(name, tokens)
    sentences = [list(run) for _, run in groupby(tokens, key=lambda token: token.sentence_id)]
    spans = [
        [spans_from_tags([token.tags[column] or "O" for token in run]) for run in sentences]
        for column in range(len(methods))
    ]
    is_annotated = any(any(token.tags) for token in tokens)

    def build(id: str) -> Document:
        layout = Layout.of([(token.start, token.end) for token in run] for run in sentences)
        return Document(id, text, layout, tokens_given=True)

    def annotate(document: Document) -> tuple[Entity, ...] | None:
        entities = (
            entity
            for method, by_sentence in zip(methods, spans, strict=True)
            for sentence, own in zip(document.sentences, by_sentence, strict=True)
            for entity in entities_from_spans(sentence, own, method)
        )
        return tuple(entities) if is_annotated else None

    count = sum(len(own) for by_sentence in spans for own in by_sentence)
    return Draft(tokens[0].document_id, build, count if is_annotated else 0, annotate)


def _columns(name: str, header: tuple[str, ...]) -> dict[str, int]:
    columns = {column: find_column(header, (column,)) for column in _NEEDED}
    missing = [column for column, i in columns.items() if i is None]
    if missing:
        raise InputError(
            f"No {missing[0]} column found in {name}. Columns: {', '.join(header)}. "
            f"Tokens need {', '.join(_NEEDED)}"
        )
    return {column: i for column, i in columns.items() if i is not None}


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


def _text(name: str, tokens: list[_Token]) -> str:
    """Return a text with the tokens at their offsets, and spaces or a line break between them."""
    pieces: list[str] = []
    sentence_id, position = tokens[0].sentence_id, 0
    for token in tokens:
        _check_place(name, token, position)
        if token.start > position:
            first = " " if token.sentence_id == sentence_id else "\n"
            pieces.append(first + " " * (token.start - position - 1))
        pieces.append(token.text)
        sentence_id, position = token.sentence_id, token.end
    return "".join(pieces)


def _check_place(name: str, token: _Token, position: int) -> None:
    if not position <= token.start <= position + _LARGEST_GAP:
        raise InputError(
            f'{name} line {token.line:,}: "{token.text[:40]}" begins at {token.start:,}, but the '
            f"token above it ends at {position:,}. Sort the rows by start, or correct it"
        )


FORMAT = Format(
    "tokens", "CSV, one row per token", (".csv",), read, write, TokensReading, write_each
)
