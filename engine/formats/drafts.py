"""Documents as a file gives them, one by one, before they have tokens and ids of their own.

A reader that yields drafts never needs the whole file: the documents of a large one are built, used
and forgotten in turn (`engine.streaming`), those of a small one become a corpus (`read_drafts`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from engine.formats.ids import unique_ids
from engine.text import Corpus, Document, Entity, FileReport


def not_annotated(document: Document) -> None:
    """Return None: nothing is known about the entities of this document."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A document that was found in a file, its text not yet split into sentences and tokens."""

    id: str  # as the file has it, or made from its number; others may have it too
    build: Callable[[str], Document]  # under the id that it ends up with
    entities: int = 0  # how many it is annotated with
    annotate: Callable[[Document], tuple[Entity, ...] | None] = not_annotated


@dataclass(frozen=True, slots=True)
class Totals:
    """What is counted over all documents of a file."""

    documents: int = 0
    entities: int = 0
    renamed: int = 0  # their id was used before in the same file
    cut: int = 0  # sentences over the limit
    wordless: int = 0  # documents without a token

    @property
    def notes(self) -> tuple[str, ...]:
        """What is told about documents as such."""
        counts = {
            "ids were used twice; ~2, ~3 … was added": self.renamed,
            "sentences were too long and were cut": self.cut,
        }
        return tuple(f"{count:,} {what}" for what, count in counts.items() if count)


class Faults:
    """How many lines or records cannot be read, and what is wrong with the first of them."""

    def __init__(self) -> None:
        self.count, self.first = 0, ""

    def add(self, fault: str) -> None:
        self.count += 1
        self.first = self.first or fault

    def notes(self, unit: str = "lines") -> tuple[str, ...]:
        """Return the note that counts those left out, none when there are none."""
        return (f"{self.count:,} {unit} left out, e.g. {self.first}",) if self.count else ()


class Reading(Protocol):
    """One pass over a file: its drafts and, when all of them were taken, what was found.

    A fault that is not to be skipped is raised when the file has been gone through, as one of its
    later lines may hold a fault that is to be told first, or more of the same.
    """

    def drafts(self) -> Iterator[Draft]: ...

    def report(self, totals: Totals) -> FileReport: ...


def read_drafts(reading: Reading) -> Corpus:
    """Return all documents of a file, of two with one id the second renamed."""
    drafts = list(reading.drafts())
    ids, renamed = unique_ids(draft.id for draft in drafts)
    documents: list[Document] = []
    entities: dict[str, tuple[Entity, ...]] = {}
    for id, draft in zip(ids, drafts, strict=True):
        document = draft.build(id)
        documents.append(document)
        if (found := draft.annotate(document)) is not None:
            entities[id] = found
    totals = Totals(
        documents=len(documents),
        entities=sum(map(len, entities.values())),
        renamed=renamed,
        cut=sum(document.cut_sentences for document in documents),
        wordless=sum(not document.sentences for document in documents),
    )
    return Corpus(tuple(documents), entities, (reading.report(totals),))
