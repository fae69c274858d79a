"""Tags and columns: what the formats with one token per line share."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from engine.formats.contract import surface
from engine.text import Document, Entity, Fitted, InputError, fit_notes, spans_from_entities

DOC_START = "-DOCSTART-"
_TAG = re.compile(r"O|[BIESLUM]-.+", re.DOTALL)
# Characters that end a column or a line; a byte order mark is lost at the start of a file.
_NOT_IN_COLUMN = re.compile(r"[\s\0]|^\ufeff")


def check_tag(tag: str) -> None:
    """Raise InputError if a tag is neither O nor a type after a known prefix."""
    if not _TAG.fullmatch(tag):
        raise InputError(
            f'"{tag[:40]}" is not a tag. Write O, or a type after B- or I- (E-, S-, L-, U- and M- '
            "are read too), such as B-Disease"
        )


def loose_tags(tags: Sequence[str]) -> Iterator[int]:
    """Yield the indices of tags that continue nothing, such as the first I- in IOB1.

    >>> list(loose_tags(["I-LOC", "I-LOC", "O", "B-LOC", "I-PER"]))
    [0, 4]
    """
    current = ""
    for i, tag in enumerate(tags):
        prefix, _, entity_type = tag.partition("-")
        if prefix in ("I", "E", "L", "M") and entity_type != current:
            yield i
        current = "" if prefix in ("E", "S", "L", "U") else entity_type


def fit(document: Document, entities: Iterable[Entity]) -> Fitted:
    """Return the entities as spans, after checking them against the text."""
    given = tuple(entities)
    for entity in given:
        surface(document, entity)
    return spans_from_entities(document, given)


class FitCounts:
    """How many entities were extended, cut and left out, over many documents."""

    def __init__(self) -> None:
        self._snapped = self._cut = self._dropped = 0

    def add(self, *fits: Fitted) -> None:
        for fitted in fits:
            self._snapped += len(fitted.snapped)
            self._cut += len(fitted.cut)
            self._dropped += len(fitted.dropped)

    @property
    def notes(self) -> list[str]:
        return fit_notes(self._snapped, self._cut, self._dropped)


class ColumnCounts:
    """What had to change because columns cannot hold white space, over many documents."""

    def __init__(self) -> None:
        self._types: set[str] = set()
        self._changed = self._unknown = 0

    def add(self, document: Document, entities: Iterable[Entity] | None) -> None:
        self._unknown += entities is None
        self._types.update(entity.entity_type for entity in entities or ())
        self._changed += sum(written_token(t) != t for s in document.sentences for t in s.tokens)

    @property
    def notes(self) -> list[str]:
        notes = [
            f'type "{entity_type}" holds a space; written as {written_name(entity_type)}'
            for entity_type in sorted(self._types)
            if written_name(entity_type) != entity_type
        ]
        if self._changed:
            notes.append(
                f'{self._changed:,} tokens hold what a column cannot, such as a space; written "_"'
            )
        if self._unknown:
            notes.append(
                f"{self._unknown:,} documents are not annotated; their tokens are tagged O"
            )
        return notes


@lru_cache(maxsize=100_000)
def written_token(token: str) -> str:
    """Return a token as a column can hold it.

    >>> written_token("5\xa0mg"), written_token("-DOCSTART-")
    ('5_mg', '_DOCSTART-')
    """
    if token == DOC_START:
        return f"_{token[1:]}"
    return _NOT_IN_COLUMN.sub("_", token)


def written_name(name: str) -> str:
    """Return a type, or a tag, without white space."""
    return _NOT_IN_COLUMN.sub("_", name)
