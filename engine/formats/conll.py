"""CoNLL files become documents of given tokens with entities, and back: a token, a tag a line."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import IO, NamedTuple

from engine.files import SourceFile
from engine.formats.contract import Format, WriteOptions, WriteReport
from engine.formats.ids import unique_ids
from engine.formats.plain_text import decode_text, document_notes, fault_notes, split_lines
from engine.formats.tagging import (
    DOC_START,
    check_tag,
    column_notes,
    fit,
    fit_notes,
    loose_tags,
    written_name,
    written_token,
)
from engine.settings import ReadOptions
from engine.text import (
    Corpus,
    Document,
    Entity,
    FileReport,
    Fitted,
    InputError,
    entities_from_spans,
    spans_from_tags,
    tags_from_spans,
)
from engine.tokenization import make_tokenized_document

_DOC_ID = re.compile(r"# (?:doc_id|newdoc id) = (.*)", re.DOTALL)
# "# sent_id = 4" is a comment; "# O" is the token "#".
_COMMENT = re.compile(r"# \w+(?: \w+)? = ")


class TokenLine(NamedTuple):
    line: int
    token: str
    tag: str  # "" in a file without tags


@dataclass(slots=True)
class Part:
    """A document while it is read."""

    id: str | None = None  # None until the file names it
    sentences: list[list[TokenLine]] = field(default_factory=lambda: [[]])

    @property
    def has_tokens(self) -> bool:
        return any(self.sentences)


# ---- reading --------------------------------------------------------------------------------


def read(file: SourceFile, options: ReadOptions) -> Corpus:
    """Return the documents of `file`; their entities too, unless it holds tokens only."""
    decoded = decode_text(file, options)
    parts, notes = _parts(file.name, split_lines(decoded.text), options)
    numbers = [""] if len(parts) == 1 else [f"-{n:06d}" for n in range(1, len(parts) + 1)]
    ids, renamed = unique_ids(
        part.id or f"{file.stem}{number}" for part, number in zip(parts, numbers, strict=True)
    )
    documents = tuple(map(_document, ids, parts))
    is_tagged = next(row.tag for part in parts for rows in part.sentences for row in rows) != ""
    pairs = zip(documents, parts, strict=True) if is_tagged else ()
    entities = {document.id: _entities(document, part) for document, part in pairs}
    report = FileReport(
        name=file.name,
        format="conll",
        encoding=decoded.encoding,
        documents=len(documents),
        entities=sum(map(len, entities.values())),
        notes=(*decoded.notes, *notes, *_fix_notes(parts), *document_notes(documents, renamed)),
    )
    return Corpus(documents, entities, (report,))


def _parts(name: str, lines: list[str], options: ReadOptions) -> tuple[list[Part], list[str]]:
    parts = [Part()]
    faults: list[str] = []
    comments, width = 0, 0
    for number, line in enumerate(lines, start=1):
        if named := _DOC_ID.fullmatch(line):
            _begin(parts, named[1])
        elif _COMMENT.match(line):
            comments += 1
        elif not line.strip():
            parts[-1].sentences.append([])
        elif (cells := _cells(line))[0] == DOC_START:
            _begin(parts, None)
        else:
            width = width or len(cells)
            try:
                parts[-1].sentences[-1].append(_token_line(number, cells, width))
            except InputError as error:
                faults.append(f"{name} line {number:,}: {error}")
    if faults and not options.skip_bad_lines:
        more = f" ({len(faults):,} lines have faults)" if len(faults) > 1 else ""
        raise InputError(f"{faults[0]}, or skip bad lines{more}", "skip_bad_lines")
    kept = [part for part in parts if part.has_tokens or part.id is not None]
    if not any(part.has_tokens for part in kept):
        raise InputError(f"{name} holds no tokens. Nothing was added")
    skipped = [f"{comments:,} comment lines skipped"] if comments else []
    return kept, [*skipped, *fault_notes(faults)]


def _cells(line: str) -> list[str]:
    # Not split() alone: a no-break space belongs to its token.
    line = line.strip(" \t")
    if "\t" in line:
        return [cell.strip(" ") for cell in line.split("\t")]
    return [cell for cell in line.split(" ") if cell]


def _begin(parts: list[Part], id: str | None) -> None:
    """A name and -DOCSTART-, in either order, begin one document between them."""
    current = parts[-1]
    if current.has_tokens or (id is not None and current.id is not None):
        parts.append(Part(id))
    elif id is not None:
        current.id = id


def _token_line(line: int, cells: list[str], width: int) -> TokenLine:
    if len(cells) != width:
        shown = " ".join(cells)[:40]
        raise InputError(
            f'{len(cells)} columns, expected {width} as above: "{shown}". '
            "Give every line the same columns, the token first and the tag last"
        )
    if width == 1:
        return TokenLine(line, cells[0], "")
    check_tag(cells[-1])
    return TokenLine(line, cells[0], cells[-1])


def _document(id: str, part: Part) -> Document:
    return make_tokenized_document(id, [[row.token for row in rows] for rows in part.sentences])


def _entities(document: Document, part: Part) -> tuple[Entity, ...]:
    tags = ([row.tag for row in rows] for rows in part.sentences if rows)
    return tuple(
        entity
        for sentence, given in zip(document.sentences, tags, strict=True)
        for entity in entities_from_spans(sentence, spans_from_tags(given), "gold")
    )


def _fix_notes(parts: Iterable[Part]) -> list[str]:
    loose = [
        (rows, i)
        for part in parts
        for rows in part.sentences
        for i in loose_tags([row.tag for row in rows])
    ]
    if not loose:
        return []
    rows, i = loose[0]
    place = f'follows "{rows[i - 1].tag}"' if i else "begins a sentence"
    return [
        f'line {rows[i].line:,}: tag "{rows[i].tag}" {place}. Treated as B-{rows[i].tag[2:]} '
        f"(IOB1 -> IOB2). {len(loose):,} tags fixed"
    ]


# ---- writing --------------------------------------------------------------------------------


def write(corpus: Corpus, out: IO[bytes], options: WriteOptions) -> WriteReport:
    """Write IOB2 tags, the entities of all methods together; the longest win where they overlap."""
    fits: list[Fitted] = []
    rows = 0
    ids, _ = unique_ids(" ".join(split_lines(document.id)) for document in corpus.documents)
    for id, document in zip(ids, corpus.documents, strict=True):
        out.write(f"# doc_id = {id}\n{DOC_START} O\n\n".encode())
        fitted = fit(document, corpus.entities.get(document.id, ()))
        fits.append(replace(fitted, spans=()))
        for sentence, spans in zip(document.sentences, fitted.spans, strict=True):
            tags = map(written_name, tags_from_spans(spans, len(sentence.tokens)))
            lines = [
                f"{written_token(t)} {tag}" for t, tag in zip(sentence.tokens, tags, strict=True)
            ]
            out.write("\n".join([*lines, "", ""]).encode())
            rows += len(lines)
    renamed = sum(d.id != id for d, id in zip(corpus.documents, ids, strict=True))
    lost = (f"{renamed:,} document ids hold a line break; written without it",) if renamed else ()
    return WriteReport(rows, (*fit_notes(fits), *column_notes(corpus), *lost))


FORMAT = Format(
    "conll", "CoNLL, a token and its tag a line", (".conll", ".bio", ".iob", ".iob2"), read, write
)
