"""What every format module offers: a reader, a writer, and how they report what they did."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import IO

from engine.files import Source
from engine.formats.drafts import Reading, read_drafts
from engine.settings import ReadOptions
from engine.text import Corpus, Document, Entity
from engine.text_files import Text, open_text


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


Pairs = Iterable[tuple[Document, tuple[Entity, ...] | None]]  # None: not annotated


@dataclass(frozen=True, slots=True)
class Overview:
    """What a writer must know about all documents before it writes the first of them."""

    kinds: frozenset[tuple[str, str, str]]  # method, run id and type of the entities
    is_annotated: bool = True  # any of the documents is, be it with no entity
    ids: Iterable[str] | None = None  # of the documents; None: each differs, and is plain
    lost: int = 0  # entities whose document is not there


Reader = Callable[[Source, ReadOptions], Corpus]
Opener = Callable[[Text, ReadOptions], Reading]
Writer = Callable[[Corpus, IO[bytes], WriteOptions], WriteReport]
EachWriter = Callable[[Pairs, IO[bytes], WriteOptions, Overview], WriteReport]


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: its name on the command line, what it is, and its functions.

    With a `reading` its files are read without holding them; `write_each` takes documents as they
    come, each once, and holds none of them.
    """

    name: str
    description: str
    extensions: tuple[str, ...]
    read: Reader | None = None
    write: Writer | None = None
    reading: Opener | None = None
    write_each: EachWriter | None = None


def whole_reader(reading: Opener) -> Reader:
    """Return the reader of a format that makes one corpus of all drafts of a file."""

    def read(file: Source, options: ReadOptions) -> Corpus:
        return read_drafts(reading(open_text(file, options.encoding), options))

    return read


def whole_writer(write_each: EachWriter) -> Writer:
    """Return the writer of a format that takes a whole corpus."""

    def write(corpus: Corpus, out: IO[bytes], options: WriteOptions) -> WriteReport:
        pairs = ((document, corpus.entities.get(document.id)) for document in corpus.documents)
        return write_each(pairs, out, options, overview(corpus))

    return write


def overview(corpus: Corpus) -> Overview:
    """Return what there is to know about a corpus beforehand."""
    ids = [document.id for document in corpus.documents]
    here = frozenset(ids)
    return Overview(
        frozenset(
            (e.method, e.run_id, e.entity_type) for of in corpus.entities.values() for e in of
        ),
        bool(corpus.entities),
        ids,
        sum(len(of) for id, of in corpus.entities.items() if id not in here),
    )


def surface(document: Document, entity: Entity) -> str:
    """Return the text under an entity; every writer takes surfaces from here and nowhere else."""
    if entity.end > len(document.text):
        raise ValueError(
            f"entity {entity.start}..{entity.end} lies outside document {document.id!r} "
            f"({len(document.text)} characters)"
        )
    return document.text[entity.start : entity.end]
