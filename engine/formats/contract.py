"""The interface of every format module: a reader, a writer, and what they report."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import IO

from engine.files import Source, Text, open_text
from engine.formats.drafts import Reading, read_drafts
from engine.settings import ReadOptions
from engine.text import Corpus, Document, Entity, InputError, one_line


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How to write a file."""

    essential_columns: bool = False  # entities CSV: doc_id,sent_id,start,end,text,label,score only
    excel: bool = False  # CSV: byte order mark, and a guard against cells that Excel runs
    utf16_offsets: bool = False  # Label Studio: offsets as a browser counts them


@dataclass(frozen=True, slots=True)
class WriteReport:
    """How many rows (entities, tokens or documents) were written, and what changed."""

    rows: int
    notes: tuple[str, ...] = ()  # one line each, whatever names they quote

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", tuple(map(one_line, self.notes)))


Pairs = Iterable[tuple[Document, tuple[Entity, ...] | None]]  # None: not annotated


@dataclass(frozen=True, slots=True)
class Overview:
    """What a writer must know about all documents before it writes the first one."""

    kinds: frozenset[tuple[str, str, str]]  # method, run id and type of the entities
    is_annotated: bool = True  # at least one document is, even without an entity
    ids: Iterable[str] | None = None  # of the documents; None: all differ and hold no odd character
    lost: int = 0  # entities whose document is missing


Reader = Callable[[Source, ReadOptions], Corpus]
Opener = Callable[[Text, ReadOptions], Reading]
Writer = Callable[[Corpus, IO[bytes], WriteOptions], WriteReport]
EachWriter = Callable[[Pairs, IO[bytes], WriteOptions, Overview], WriteReport]


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: its name on the command line, its description, and its functions.

    `reading` reads a file without holding it in memory. `write_each` writes documents as they come
    and holds none of them.
    """

    name: str
    description: str
    extensions: tuple[str, ...]
    read: Reader | None = None
    write: Writer | None = None
    reading: Opener | None = None
    write_each: EachWriter | None = None
    needs: str = ""  # the extra, and package, without which it can neither be read nor written

    @property
    def is_installed(self) -> bool:
        return not self.needs or find_spec(self.needs) is not None


def missing_package(format: Format) -> InputError:
    """Return the error for a format whose package is not installed."""
    return InputError(
        f"the format {format.name} needs {format.needs}, which is not installed. "
        f'Run: pip install "glossa[{format.needs}]"'
    )


def whole_reader(reading: Opener) -> Reader:
    """Return a reader that builds one corpus from all drafts of a file."""

    def read(file: Source, options: ReadOptions) -> Corpus:
        return read_drafts(
            reading(open_text(file, options.encoding), options), file.name, file.limits
        )

    return read


def whole_writer(write_each: EachWriter) -> Writer:
    """Return a writer that takes a whole corpus."""

    def write(corpus: Corpus, out: IO[bytes], options: WriteOptions) -> WriteReport:
        pairs = ((document, corpus.entities.get(document.id)) for document in corpus.documents)
        return write_each(pairs, out, options, overview(corpus))

    return write


def overview(corpus: Corpus) -> Overview:
    """Return what a writer must know about a corpus before it begins."""
    ids = [document.id for document in corpus.documents]
    here = frozenset(ids)
    return Overview(
        frozenset(
            (entity.method, entity.run_id, entity.entity_type)
            for entities in corpus.entities.values()
            for entity in entities
        ),
        bool(corpus.entities),
        ids,
        sum(len(entities) for id, entities in corpus.entities.items() if id not in here),
    )


def surface(document: Document, entity: Entity) -> str:
    """Return the text of an entity, checked; every writer gets surfaces from here."""
    if entity.end > len(document.text):
        raise ValueError(
            f"entity {entity.start}..{entity.end} lies outside document {document.id!r} "
            f"({len(document.text)} characters)"
        )
    return document.text[entity.start : entity.end]
