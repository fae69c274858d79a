"""Read and write PubTator files: title, abstract and entities per document."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import IO

from engine.files import Text
from engine.formats.contract import (
    Format,
    Overview,
    Pairs,
    WriteOptions,
    WriteReport,
    surface,
    whole_reader,
    whole_writer,
)
from engine.formats.drafts import Draft, Faults, Totals
from engine.formats.entities_csv import whole_number
from engine.formats.ids import written_ids
from engine.formats.plain_text import parse_lines, plain_lines, split_lines
from engine.settings import ReadOptions
from engine.text import Document, Entity, FileReport, InputError, make_document

_TEXT_LINE = re.compile(r"([^|\t]*)\|([ta])\|(.*)", re.DOTALL)
_BREAK = re.compile(r"[\r\n\t]")  # a line break ends a line, a tab a column
_NOT_IN_ID = re.compile(r"[|\r\n\t]")


@dataclass(slots=True)
class _Article:
    """A document while it is read."""

    id: str
    text: str  # the title, and the abstract once it is read
    entities: list[Entity] = field(default_factory=list)


# ---- reading --------------------------------------------------------------------------------


class PubTatorReading:
    """One pass over a file of articles; annotation lines belong to the article before them.

    The articles count as annotated if any of them has an entity.
    """

    def __init__(self, text: Text, options: ReadOptions) -> None:
        self._text, self._options = text, options
        self._last: _Article | None = None
        self._faults = Faults()
        self._relations = 0
        self._is_annotated = False

    def drafts(self) -> Iterator[Draft]:
        lines = enumerate(plain_lines(self._text), start=1)
        name = self._text.name
        for finished in parse_lines(name, lines, self._take, self._options, self._faults):
            if finished:
                yield self._draft(finished)
        if self._last is None:
            raise InputError(f"{name} holds no line id|t|title. Nothing was added")
        yield self._draft(self._last)

    def _draft(self, article: _Article) -> Draft:
        entities = tuple(article.entities)
        self._is_annotated = self._is_annotated or bool(entities)
        return Draft(
            article.id,
            partial(make_document, text=article.text),
            len(entities),
            lambda document: entities if self._is_annotated else None,
        )

    def report(self, totals: Totals) -> FileReport:
        skipped = [f"{self._relations:,} relations skipped"] if self._relations else []
        return FileReport(
            name=self._text.name,
            format="pubtator",
            encoding=self._text.encoding,
            documents=totals.documents,
            entities=totals.entities,
            notes=(*self._text.notes, *self._faults.notes(), *skipped, *totals.notes),
        )

    def _take(self, line: str) -> _Article | None:
        """Add a line, and return the article that it ends, if any."""
        if match := _TEXT_LINE.fullmatch(line):
            return self._take_text(*match.groups())
        if line.strip():
            self._take_annotation(line.split("\t"))
        return None

    def _take_text(self, id: str, kind: str, text: str) -> _Article | None:
        if kind == "t":
            finished, self._last = self._last, _Article(id, text)
            return finished
        if text:
            self._article(id).text += f" {text}"  # offsets count one character between the two
        return None

    def _take_annotation(self, cells: list[str]) -> None:
        if len(cells) < 4:
            raise InputError(
                f'"{cells[0][:40]}" is neither id|t|title, id|a|abstract nor an annotation with '
                "tabs between its columns. Correct it"
            )
        article = self._article(cells[0])
        if cells[1][:1].isalpha():  # PMID, CID, chemical, disease: a relation, not an entity
            self._relations += 1
        else:
            article.entities.append(_entity(article.text, cells))

    def _article(self, id: str) -> _Article:
        if self._last is None or self._last.id != id:
            raise InputError(f'no title line "{id[:40]}|t|…" comes before this. Correct it')
        return self._last


read = whole_reader(PubTatorReading)


def _entity(text: str, cells: list[str]) -> Entity:
    start, end = whole_number("start", cells[1]), whole_number("end", cells[2])
    if not start < end <= len(text):
        raise InputError(
            f"{start}-{end} is no stretch of the text ({len(text):,} characters). Correct it"
        )
    if text[start:end] != cells[3]:
        raise InputError(
            f'"{cells[3][:40]}" is not at {start}-{end}; the text there is '
            f'"{text[start:end][:40]}". Correct the offsets'
        )
    if len(cells) < 5 or not cells[4].strip():
        raise InputError(f'"{cells[3][:40]}" has no type. Add it after the text')
    return Entity(start, end, cells[4], method="gold", canonical_id=(*cells, "")[5])


# ---- writing --------------------------------------------------------------------------------


def write_each(
    pairs: Pairs, out: IO[bytes], options: WriteOptions, overview: Overview
) -> WriteReport:
    """Write each document with its first line as title and the rest, in one line, as abstract."""
    counts: Counter[str] = Counter()
    written_id = written_ids(overview.ids, partial(_NOT_IN_ID.sub, "_"))
    rows = 0
    for document, entities in pairs:
        id = written_id(document.id)
        lines = _lines(id, document, entities or (), counts)
        out.write("".join(f"{line}\n" for line in ["", *lines][rows == 0 :]).encode())
        rows += 1
        counts['document ids hold "|" or a tab; written with "_"'] += id != document.id
        counts["line breaks and tabs became spaces"] += len(_BREAK.findall(document.text))
    notes = tuple(f"{count:,} {what}" for what, count in counts.items() if count)
    return WriteReport(rows, notes)


write = whole_writer(write_each)


def _lines(
    id: str, document: Document, entities: Iterable[Entity], counts: Counter[str]
) -> list[str]:
    """Return the lines of a document; each changed character becomes one space: offsets stay."""
    title_end = len(split_lines(document.text)[0])
    text = _BREAK.sub(" ", document.text)
    title, abstract = text[:title_end], text[title_end + 1 :]
    lines = [f"{id}|t|{title}", f"{id}|a|{abstract}"]
    for entity in entities:
        surface(document, entity)
        # The format cannot hold a line break at the very end, without an abstract after it.
        end = entity.end if abstract else min(entity.end, title_end)
        counts["entities cut before the line break that ends the text"] += end != entity.end
        if entity.start < end:
            names = (_BREAK.sub("_", name) for name in (entity.entity_type, entity.canonical_id))
            place = (id, str(entity.start), str(end), text[entity.start : end])
            lines.append("\t".join((*place, *names)))
    return lines


FORMAT = Format(
    "pubtator",
    "PubTator, title and abstract",
    (".pubtator",),
    read,
    write,
    PubTatorReading,
    write_each,
)
