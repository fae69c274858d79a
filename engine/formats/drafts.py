"""Drafts: the documents of a file, one by one, before they get tokens and final ids.

A reader that yields drafts never needs the whole file. The documents of a large file are built,
used and dropped one after another (`streaming`); those of a small one become a corpus
(`read_drafts`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from engine.files import refuse_many
from engine.formats.ids import unique_ids
from engine.settings import Limits
from engine.system import without_collection
from engine.text import Corpus, Document, Entity, FileReport, one_line

Annotate = Callable[[Document], tuple[Entity, ...] | None]


def not_annotated(document: Document) -> None:
    """Return None: nothing is known about the entities of this document."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A document found in a file, before its text is split into sentences and tokens."""

    id: str  # from the file, or made from its number; may be repeated
    build: Callable[[str], Document]  # called with the id it gets
    entities: int = 0  # how many annotations it has
    annotate: Annotate = not_annotated


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts over all documents of a file."""

    documents: int = 0
    entities: int = 0
    renamed: int = 0  # documents whose id was used before in the same file
    cut: int = 0  # sentences over the limit
    wordless: int = 0  # documents without a token

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes about renamed documents and cut sentences."""
        counts = {
            "ids were used twice; ~2, ~3 … was added": self.renamed,
            "sentences were too long and were cut": self.cut,
        }
        return tuple(f"{count:,} {what}" for what, count in counts.items() if count)


class Faults:
    """How many lines or records cannot be read, and what is wrong with the first."""

    def __init__(self) -> None:
        self.count, self.first = 0, ""

    def add(self, fault: str) -> None:
        self.count += 1
        self.first = self.first or fault

    def notes(self, unit: str = "lines") -> tuple[str, ...]:
        """Return the note that counts those left out; no note if there are none."""
        if not self.count:
            return ()
        return (one_line(f"{self.count:,} {unit} left out, e.g. {self.first}"),)


def with_id(document: Document, id: str) -> Document:
    """Return the document under another id."""
    return document if id == document.id else replace(document, id=id)


class Reading(Protocol):
    """One pass over a file: its drafts and, after the last one, a report.

    A fault that is not skipped is raised at the end of the file: a later line may hold a fault that
    matters more, or more of the same.
    """

    def drafts(self) -> Iterator[Draft]: ...

    def report(self, totals: Totals) -> FileReport: ...


class Counts:
    """The documents and tokens of files that are read together, refused beyond the limits."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._documents = self._tokens = 0

    def add(self, name: str, *documents: Document) -> None:
        """Count documents of the file `name`."""
        for document in documents:
            self._documents += 1
            self._tokens += len(document.layout.tokens) // 2
        refuse_many(name, "documents", self._documents, self._limits)
        refuse_many(name, "tokens", self._tokens, self._limits)


def read_drafts(reading: Reading, name: str, limits: Limits) -> Corpus:
    """Return all documents of a file; if two have the same id, the second is renamed."""
    counts = Counts(limits)
    documents: list[Document] = []
    annotations: list[Annotate] = []
    with without_collection():
        for draft in reading.drafts():
            # Built at once: a draft takes more memory than its document.
            document = draft.build(draft.id)
            counts.add(name, document)
            documents.append(document)
            annotations.append(draft.annotate)
    ids, renamed = unique_ids(document.id for document in documents)
    documents = [with_id(document, id) for document, id in zip(documents, ids, strict=True)]
    # Whether a file is annotated may be known only after its last line.
    annotated = (annotate(d) for annotate, d in zip(annotations, documents, strict=True))
    entities = {id: own for id, own in zip(ids, annotated, strict=True) if own is not None}
    totals = Totals(
        documents=len(documents),
        entities=sum(map(len, entities.values())),
        renamed=renamed,
        cut=sum(document.cut_sentences for document in documents),
        wordless=sum(not document.sentences for document in documents),
    )
    return Corpus(tuple(documents), entities, (reading.report(totals),))
