"""Find patterns that take too long in a shard, and leave them out of all shards.

One machine gives up such a pattern for the whole text, so the shards have to agree on it first.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from engine.dictionaries import NEVER, Dictionary, enabled_phrases, is_pattern
from engine.labels import Labeler
from engine.settings import MatchOptions
from engine.text import Document

_MATCHES_NOTHING = "re:(?!)"


class Slow(NamedTuple):
    """A pattern that took too long."""

    dictionary: int
    text: str
    entity_type: str
    note: str  # which pattern, where it is, and why


def has_patterns(dictionaries: Iterable[Dictionary]) -> bool:
    """Return whether any phrase in use is a pattern."""
    return any(map(_pattern_dictionary, dictionaries))


class PatternTrial:
    """The patterns of some dictionaries, to try on one shard after another."""

    def __init__(self, dictionaries: Sequence[Dictionary], match: MatchOptions) -> None:
        patterns = {i: _pattern_dictionary(d) for i, d in enumerate(dictionaries)}
        self._patterns = {i: dictionary for i, dictionary in patterns.items() if dictionary}
        self._match = match
        self._labeler = Labeler(list(self._patterns.values()), match)

    def figures(self, documents: Sequence[Document]) -> dict[str, Any]:
        """Return the patterns that take too long in these documents."""
        return {"slow": list(self._slow(documents))}

    def _slow(self, documents: Sequence[Document]) -> Iterator[Slow]:
        if not self._labeler.label(documents).notes:
            return
        for i, dictionary in self._patterns.items():
            for phrase in dictionary.phrases:
                alone = Labeler([replace(dictionary, phrases=(phrase,))], self._match)
                for note in alone.label(documents).notes:
                    yield Slow(i, phrase.text, phrase.entity_type, note)


def _pattern_dictionary(dictionary: Dictionary) -> Dictionary | None:
    """Return the patterns of a dictionary as one of its own; None if there are none."""
    patterns = tuple(p for p in enabled_phrases(dictionary) if is_pattern(p.text))
    return replace(dictionary, phrases=patterns) if patterns else None


def slow_patterns(
    figures: Iterable[Mapping[str, Any]], dictionaries: Sequence[Dictionary]
) -> list[Slow]:
    """Return the patterns that took too long in any shard, once, as one machine names them."""
    slow = {row[:3]: row for part in figures for row in (Slow(*given) for given in part["slow"])}
    order = {
        (i, phrase.text, phrase.entity_type): (phrase.entity_type == NEVER, i, place)
        for i, dictionary in enumerate(dictionaries if slow else ())
        for place, phrase in enumerate(dictionary.phrases)
    }
    return sorted(slow.values(), key=lambda row: order[row[:3]])


def without_slow(dictionaries: Sequence[Dictionary], slow: Iterable[Slow]) -> list[Dictionary]:
    """Return the dictionaries with the slow patterns matching nothing; phrases keep their places.

    The number of a phrase is what shards count by, so none may be taken out.
    """
    silent = {row[:3] for row in slow}
    if not silent:
        return list(dictionaries)
    return [
        replace(
            dictionary,
            phrases=tuple(
                replace(phrase, text=_MATCHES_NOTHING)
                if (i, phrase.text, phrase.entity_type) in silent
                else phrase
                for phrase in dictionary.phrases
            ),
        )
        for i, dictionary in enumerate(dictionaries)
    ]
