"""Read documents one after another without holding them, so that a corpus may be of any size.

A first pass over the files finds what only all of them can tell (encodings, columns, faults,
repeated ids), without splitting any text. After it, the documents can be read as often as needed.
They are the same as those of `read_corpus`, with the same ids and notes.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from engine.files import TEXT_EXTENSIONS, Source, is_zip, open_source, open_text, packed_members
from engine.formats import brat
from engine.formats.catalog import FORMATS
from engine.formats.detection import detect_format
from engine.formats.drafts import Draft, Reading, Totals, with_id
from engine.formats.ids import IdBook
from engine.formats.packed import is_packed
from engine.formats.pairing import extension
from engine.formats.reading import check_places, group_files, with_rename_note
from engine.settings import LIMITS, Limits, ReadOptions
from engine.text import Corpus, Document, FileReport, InputError, in_language

_ODD = re.compile(r"[\r\n\t|]")
_TEXTS = frozenset(TEXT_EXTENSIONS.split()) - {".ann", ".zip"}


class DocumentStream:
    """The documents of many files, read again at each pass."""

    def __init__(self, parts: "list[_Part]") -> None:
        self._parts = parts
        self._book = _book_of_all(parts)
        self._changed = self._book.renamed([len(part.book) for part in parts])
        self.has_words = False  # known after a pass over all documents
        self._check_loose([part.loose for part in parts if part.loose])

    def __len__(self) -> int:
        return len(self._book)

    @property
    def has_odd_ids(self) -> bool:
        """Whether an id holds a character that some formats cannot: a line break, a tab, a bar."""
        return any(part.has_odd_ids for part in self._parts)

    @property
    def files(self) -> tuple[FileReport, ...]:
        """What was found in each file; cut sentences are counted during a pass over documents."""
        reports = zip(self._parts, self._changed, strict=True)
        return tuple(with_rename_note(part.report, changed) for part, changed in reports)

    @property
    def notes(self) -> list[str]:
        return Corpus((), files=self.files).notes

    def ids(self) -> Iterator[str]:
        """Yield the ids of all documents, without building any."""
        return (id for id, _ in self._drafts())

    def __iter__(self) -> Iterator[Document]:
        rename = self._book.renamer()
        for part in self._parts:
            for document in part.documents(rename):
                self.has_words = self.has_words or bool(document.sentences)
                yield document

    def _drafts(self) -> Iterator[tuple[str, Draft]]:
        rename = self._book.renamer()
        for part in self._parts:
            rename_in_file = part.book.renamer()
            for draft in part.open().drafts():
                yield rename(rename_in_file(draft.id)), draft

    def _check_loose(self, loose: Sequence[Corpus]) -> None:
        """Check that annotations without a text lie inside the documents that they name."""
        named = {id for corpus in loose for id in corpus.entities}
        if not named or not len(self):
            return
        lengths = {id: len(draft.build(id).text) for id, draft in self._drafts() if id in named}
        for corpus in loose:
            for id, entities in corpus.entities.items():
                check_places(corpus, id, entities, lengths.get(id))


def open_stream(
    paths: Iterable[str | Path], options: ReadOptions | None = None, limits: Limits = LIMITS
) -> DocumentStream:
    """Return the documents of the files at `paths`, after a first pass over all of them.

    A file that cannot be read raises InputError. Files that are read line by line may be of any
    size. Others (JSON that is one list, archives of brat files, a .txt that is one document) are
    held in memory one at a time, within the limits.
    """
    return stream_sources([open_source(path, limits) for path in paths], options)


def stream_sources(sources: Iterable[Source], options: ReadOptions | None = None) -> DocumentStream:
    """Return the documents of files, which are read where they are."""
    groups = group_files(sources, packed_members)
    if not groups:
        raise InputError("no files were given")
    return DocumentStream([_in_its_language(group, options or ReadOptions()) for group in groups])


def _book_of_all(parts: "list[_Part]") -> IdBook:
    book = IdBook()
    for part in parts:
        if part.totals.renamed:
            rename = part.book.renamer()
            for draft in part.open().drafts():
                book.add(rename(draft.id))
        else:
            book.extend(part.book)
    book.close()
    return book


# ---- one file -------------------------------------------------------------------------------


@dataclass(slots=True)
class _Part:
    """A file, or files that are read together, and what is known about them."""

    open: Callable[[], Reading]  # begins a pass
    book: IdBook  # the ids in the file
    totals: Totals
    report: FileReport
    has_odd_ids: bool
    loose: Corpus | None = None
    language: str | None = None  # whose sentences they are

    def documents(self, rename: Callable[[str], str]) -> Iterator[Document]:
        with in_language(self.language):
            reading, rename_in_file = self.open(), self.book.renamer()
        count = cut = wordless = 0
        for draft in reading.drafts():
            with in_language(self.language):
                document = draft.build(rename(rename_in_file(draft.id)))
            count += 1
            cut += document.cut_sentences
            wordless += not document.sentences
            yield document
        if count != self.totals.documents:
            raise InputError(f"{self.report.name} was changed while it was read. Try again")
        self.report = reading.report(replace(self.totals, cut=cut, wordless=wordless))


class _CorpusReading:
    """A pass over the documents of a corpus that had to be read whole."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def drafts(self) -> Iterator[Draft]:
        for document in self.corpus.documents:
            entities = self.corpus.entities.get(document.id, ())
            yield Draft(document.id, partial(with_id, document), len(entities))

    def report(self, totals: Totals) -> FileReport:
        return self.corpus.files[0]


def _part(group: list[Source], options: ReadOptions) -> _Part:
    """Read a file for the first time."""
    first = group[0]
    if len(group) == 2:
        text_file, ann_file = group
        return _whole(lambda: brat.read_pair(text_file, ann_file, options))
    if is_zip(first):
        return _whole(lambda: brat.read(first, options))
    if is_packed(first):
        packed = FORMATS[detect_format(first)].read
        assert packed is not None
        return _whole(lambda: packed(first, options))
    if extension(first) not in _TEXTS:
        detect_format(first, options)  # says why it cannot be read
    text = open_text(first, options.encoding)
    format = FORMATS[detect_format(first, options, text)]
    read = format.read
    assert read is not None
    if format.reading is None:
        return _whole(lambda: read(first, options))
    try:
        part = _look_through(partial(format.reading, text, options))
    except InputError:
        if format.name != "tokens":
            raise
    else:
        if format.name != "tokens" or not part.totals.renamed:
            return part
    # The rows of one document are not together, which may look like faults.
    return _whole(lambda: read(first, options))


def _in_its_language(group: list[Source], options: ReadOptions) -> _Part:
    with in_language(options.language):
        part = _part(group, options)
    part.language = options.language
    return part


def _whole(read: Callable[[], Corpus]) -> _Part:
    return _look_through(lambda: _CorpusReading(read()))


def _look_through(open: Callable[[], Reading]) -> _Part:
    reading, book = open(), IdBook()
    entities, has_odd_ids = 0, False
    for draft in reading.drafts():
        book.add(draft.id)
        entities += draft.entities
        has_odd_ids = has_odd_ids or bool(_ODD.search(draft.id))
    book.close()
    [renamed] = book.renamed([len(book)])
    totals = Totals(documents=len(book), entities=entities, renamed=renamed)
    loose = None
    if isinstance(reading, _CorpusReading) and not reading.corpus.documents:
        loose = reading.corpus
    return _Part(open, book, totals, reading.report(totals), has_odd_ids, loose)
