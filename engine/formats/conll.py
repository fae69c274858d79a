"""Read and write CoNLL files: one token and its tag per line."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, NamedTuple

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
from engine.formats.drafts import Draft, Faults, Totals
from engine.formats.ids import written_ids
from engine.formats.plain_text import plain_lines, split_lines
from engine.formats.tagging import (
    DOC_START,
    ColumnCounts,
    FitCounts,
    check_tag,
    fit,
    loose_tags,
    written_name,
    written_token,
)
from engine.settings import ReadOptions
from engine.text import (
    Document,
    Entity,
    FileReport,
    InputError,
    entities_from_spans,
    make_tokenized_document,
    one_line,
    spans_from_tags,
    tags_from_spans,
)

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


class ConllReading:
    """One pass over a file; its documents have entities, unless the file has tokens only."""

    def __init__(self, text: Text, options: ReadOptions) -> None:
        self._text, self._options = text, options
        self._faults = Faults()
        self._comments, self._width = 0, 0
        self._is_tagged: bool | None = None  # None until the first token is read
        self._loose, self._first_loose = 0, ""

    def drafts(self) -> Iterator[Draft]:
        number, held = 0, None
        for part in self._parts():
            if not part.has_tokens and part.id is None:
                continue
            number += 1
            if number == 1:
                held = part  # its id depends on whether there is a second document
                continue
            if held:
                yield self._draft(held, f"{self._text.stem}-000001")
                held = None
            yield self._draft(part, f"{self._text.stem}-{number:06d}")
        self._raise_faults()
        if held:
            yield self._draft(held, self._text.stem)

    def _raise_faults(self) -> None:
        name, faults = self._text.name, self._faults
        if faults.count and not self._options.skip_bad_lines:
            more = f" ({faults.count:,} lines have faults)" if faults.count > 1 else ""
            raise InputError(f"{faults.first}, or skip bad lines{more}", "skip_bad_lines")
        if self._is_tagged is None:
            raise InputError(f"{name} holds no tokens. Nothing was added")

    def _parts(self) -> Iterator[Part]:
        """Yield each document when the next one begins, or the file ends."""
        part = Part()
        for number, line in enumerate(plain_lines(self._text), start=1):
            if named := _DOC_ID.fullmatch(line):
                finished, part = _begin(part, named[1])
            elif _COMMENT.match(line):
                self._comments += 1
                continue
            elif not line.strip():
                part.sentences.append([])
                continue
            elif (cells := _cells(line))[0] == DOC_START:
                finished, part = _begin(part, None)
            else:
                self._take(part, number, cells)
                continue
            if finished:
                yield finished
        yield part

    def _take(self, part: Part, number: int, cells: list[str]) -> None:
        self._width = self._width or len(cells)
        try:
            row = _token_line(number, cells, self._width)
        except InputError as error:
            self._faults.add(f"{self._text.name} line {number:,}: {error}")
            return
        if self._is_tagged is None:
            self._is_tagged = row.tag != ""
        part.sentences[-1].append(row)

    def _draft(self, part: Part, name: str) -> Draft:
        self._count_loose(part)
        sentences = [rows for rows in part.sentences if rows]
        spans = [spans_from_tags([row.tag for row in rows]) for rows in sentences]

        def build(id: str) -> Document:
            return make_tokenized_document(id, [[row.token for row in rows] for rows in sentences])

        def annotate(document: Document) -> tuple[Entity, ...] | None:
            pairs = zip(document.sentences, spans, strict=True)
            entities = [e for s, own in pairs for e in entities_from_spans(s, own, "gold")]
            return tuple(entities) if self._is_tagged else None

        return Draft(part.id or name, build, sum(map(len, spans)), annotate)

    def _count_loose(self, part: Part) -> None:
        for rows in part.sentences:
            for i in loose_tags([row.tag for row in rows]):
                self._loose += 1
                if not self._first_loose:
                    place = f'follows "{rows[i - 1].tag}"' if i else "begins a sentence"
                    self._first_loose = (
                        f'line {rows[i].line:,}: tag "{rows[i].tag}" {place}. '
                        f"Treated as B-{rows[i].tag[2:]} (IOB1 -> IOB2)."
                    )

    def report(self, totals: Totals) -> FileReport:
        skipped = [f"{self._comments:,} comment lines skipped"] if self._comments else []
        fixed = f"{self._first_loose} {self._loose:,} tags fixed"
        return FileReport(
            name=self._text.name,
            format="conll",
            encoding=self._text.encoding,
            documents=totals.documents,
            entities=totals.entities,
            notes=(
                *self._text.notes,
                *skipped,
                *self._faults.notes(),
                *([one_line(fixed)] if self._loose else []),
                *totals.notes,
            ),
        )


read = whole_reader(ConllReading)


def _cells(line: str) -> list[str]:
    # Not split(): a no-break space belongs to its token.
    line = line.strip(" \t")
    if "\t" in line:
        return [cell.strip(" ") for cell in line.split("\t")]
    return [cell for cell in line.split(" ") if cell]


def _begin(part: Part, id: str | None) -> tuple[Part | None, Part]:
    """Return the document that ends here, if any, and the one that continues or begins.

    An id and -DOCSTART- next to each other, in either order, begin only one document.
    """
    if part.has_tokens or (id is not None and part.id is not None):
        return part, Part(id)
    part.id = part.id if id is None else id
    return None, part


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


# ---- writing --------------------------------------------------------------------------------


def write_each(
    pairs: Pairs, out: IO[bytes], options: WriteOptions, overview: Overview
) -> WriteReport:
    """Write IOB2 tags for the entities of all methods; of overlapping ones the longest wins."""
    fits, columns = FitCounts(), ColumnCounts()
    rows = renamed = 0
    written_id = written_ids(overview.ids, lambda id: " ".join(split_lines(id)))
    for document, entities in pairs:
        id = written_id(document.id)
        renamed += id != document.id
        out.write(f"# doc_id = {id}\n{DOC_START} O\n\n".encode())
        fitted = fit(document, entities or ())
        fits.add(fitted)
        columns.add(document, entities)
        for sentence, spans in zip(document.sentences, fitted.spans, strict=True):
            tags = map(written_name, tags_from_spans(spans, len(sentence)))
            lines = [
                f"{written_token(t)} {tag}" for t, tag in zip(sentence.tokens, tags, strict=True)
            ]
            out.write("\n".join([*lines, "", ""]).encode())
            rows += len(lines)
    lost = (f"{renamed:,} document ids hold a line break; written without it",) if renamed else ()
    return WriteReport(rows, (*fits.notes, *columns.notes, *lost))


write = whole_writer(write_each)


FORMAT = Format(
    "conll",
    "CoNLL, one token and its tag per line",
    (".conll", ".bio", ".iob", ".iob2"),
    read,
    write,
    ConllReading,
    write_each,
)
