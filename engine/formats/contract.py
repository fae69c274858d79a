"""What every format module offers: a reader, a writer, and how they report what they did."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

from engine.files import SourceFile
from engine.formats.drafts import Reading, read_drafts
from engine.settings import ReadOptions
from engine.text import Corpus, Document, Entity
from engine.text_files import Text, held_text


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How a file is to be written."""

    essential_columns: bool = False  # entities CSV: doc_id,sent_id,start,end,text,label,score only
    excel: bool = False  # CSV: byte order mark, and a guard against cells that run as formulas
    utf16_offsets: bool = False  # Label Studio: offsets as a browser counts them


@dataclass(frozen=True, slots=True)
class WriteReport:
    """How many rows (entities, tokens or documents) were written, and what was changed."""

    rows: int
    notes: tuple[str, ...] = ()


Reader = Callable[[SourceFile, ReadOptions], Corpus]
Opener = Callable[[Text, ReadOptions], Reading]
Writer = Callable[[Corpus, IO[bytes], WriteOptions], WriteReport]


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: its name on the command line, what it is, and its functions.

    One with a `reading` can be read without holding the file.
    """

    name: str
    description: str
    extensions: tuple[str, ...]
    read: Reader | None = None
    write: Writer | None = None
    reading: Opener | None = None


def whole_reader(reading: Opener) -> Reader:
    """Return the reader of a format that makes one corpus of all drafts of a file."""

    def read(file: SourceFile, options: ReadOptions) -> Corpus:
        return read_drafts(reading(held_text(file, options.encoding), options))

    return read


def surface(document: Document, entity: Entity) -> str:
    """Return the text under an entity; every writer takes surfaces from here and nowhere else."""
    if entity.end > len(document.text):
        raise ValueError(
            f"entity {entity.start}..{entity.end} lies outside document {document.id!r} "
            f"({len(document.text)} characters)"
        )
    return document.text[entity.start : entity.end]
