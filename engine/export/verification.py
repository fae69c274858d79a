"""Read a written file again and check every offset in it against the texts."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter

from engine.files import SourceFile
from engine.formats import FORMATS, read_guarded_table, written_token
from engine.settings import NO_LIMITS, ReadOptions
from engine.text import Corpus, Document, Entity, InputError, spans_from_entities

_SPACE = re.compile(r"\s")  # the same characters as str.isspace


@dataclass(frozen=True, slots=True)
class Verification:
    """How many rows of a written file are right, and the first problem if there is one."""

    rows: int
    what: str = "entities"  # or "tokens"
    problem: str = ""
    claim: str = "all offsets verified"

    def __str__(self) -> str:
        if self.problem:
            return self.problem
        one = {"entities": "entity", "tokens": "token"}
        return f"{self.rows:,} {one[self.what] if self.rows == 1 else self.what}, {self.claim}"


def verify(data: bytes, format: str, corpus: Corpus) -> Verification:
    """Check that the entities of a file written from `corpus` are where they are in the texts.

    The format's own reader reads the bytes. In tables, each row must repeat the text at its
    offsets. In other formats, the entities must come back at the same places, counted in letters
    where the format changes white space. The paper's format has no offsets and joins documents and
    neighbouring entities: there the tokens are compared.
    """
    chosen = FORMATS[format]
    file = SourceFile(f"written{chosen.extensions[0]}", data, NO_LIMITS)
    try:
        if format in ("entities", "tokens"):
            return _verify_rows(file, corpus, "text" if format == "entities" else "token")
        assert chosen.read is not None
        has_words = any(document.text.strip() for document in corpus.documents)
        read = chosen.read(file, ReadOptions()) if has_words else Corpus(())
    except InputError as error:
        return Verification(0, problem=f"the file could not be read again: {error}")
    if format == "benchmark":
        return _verify_tokens(read, corpus)
    # CoNLL holds whole tokens: entities that begin or end inside one were widened when written.
    return _verify_places(read, corpus, is_of_tokens=format == "conll")


def _verify_rows(file: SourceFile, corpus: Corpus, column: str) -> Verification:
    """Check that each row repeats ``text[start:end]``."""
    what = "entities" if column == "text" else "tokens"
    texts = {document.id: document.text for document in corpus.documents}
    table = read_guarded_table(file, ReadOptions())
    header = table.rows[0].cells
    names = ("doc_id", "start", "end", column)
    cells_of = itemgetter(*(header.index(name) for name in names))
    count = 0
    for row in table.rows[1:]:
        id, start, end, surface = cells_of(row.cells)
        there = texts.get(id, "")[int(start) : int(end)]
        if there != surface:
            problem = f'line {row.line:,} says "{surface[:40]}" where the text has "{there[:40]}"'
            return Verification(count, what, problem)
        count += 1
    return Verification(count, what)


def _verify_tokens(read: Corpus, corpus: Corpus) -> Verification:
    """Check that the tokens come back as they were written, in the order of the texts."""
    written = [written_token(token) for sentence in corpus.sentences for token in sentence.tokens]
    if written != [token for sentence in read.sentences for token in sentence.tokens]:
        return Verification(0, "tokens", "the tokens read again differ from those of the texts")
    return Verification(len(written), "tokens", claim="all read again in the order of the text")


def _verify_places(read: Corpus, corpus: Corpus, *, is_of_tokens: bool) -> Verification:
    """Check that the entities of each document come back at the same places."""
    written = [document for document in corpus.documents if document.text.strip()]
    again = [document for document in read.documents if document.text.strip()]
    if len(written) != len(again):
        problem = f"{len(again):,} documents were read again, {len(written):,} written"
        return Verification(0, problem=problem)
    count = 0
    for ours, theirs in zip(written, again, strict=True):
        given = corpus.entities.get(ours.id, ())
        expected = _on_tokens(ours, given) if is_of_tokens else given
        got = read.entities.get(theirs.id, ())
        if _places(ours, theirs, expected) != _places(theirs, ours, got):
            problem = f'entities of "{ours.id}" are not where they were'
            return Verification(count, problem=problem)
        count += len(got)
    return Verification(count)


def _on_tokens(document: Document, entities: Iterable[Entity]) -> list[Entity]:
    spans = spans_from_entities(document, entities).spans
    return [
        Entity(*sentence.offsets(span), span.entity_type)
        for sentence, in_sentence in zip(document.sentences, spans, strict=True)
        for span in in_sentence
    ]


def _places(
    document: Document, other: Document, entities: Sequence[Entity]
) -> set[tuple[int, int]]:
    """Return the entities' offsets: characters, or letters if the texts differ in white space."""
    if document.text == other.text:
        return {(entity.start, entity.end) for entity in entities}
    spaces = [space.start() for space in _SPACE.finditer(document.text)]

    def letters_before(place: int) -> int:
        return place - bisect_left(spaces, place)

    return {(letters_before(entity.start), letters_before(entity.end)) for entity in entities}
