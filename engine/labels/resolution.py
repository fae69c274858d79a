"""Decide which of the phrases that occur in a sentence count as labels, and why others do not.

The result does not depend on the order of dictionaries and phrases:

1. Within a type, from left to right: take the longest phrase that begins at a token and continue
   right after it, so adjacent matches are all taken.
2. Between types, where taken matches overlap: the longer one (in tokens) wins; then the one from
   the dictionary with the higher priority; then the one that begins earlier; then the type whose
   name comes first in the alphabet.
3. Before that, a phrase counts as absent where it overlaps one that is never an entity and has at
   least as many tokens. A longer phrase stays: "cold" on the list leaves "common cold" alone.
4. A match that loses is recorded with the reason and its winner. Nothing takes its place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.dictionaries import Dictionary, Phrase
from engine.labels.matching import Matcher, Occurrence

KEPT, SAME_TYPE, LONGER, PRIORITY, EARLIER, TYPE_NAME = range(6)
OUTCOMES = (
    "kept",
    "overlaps an earlier match of the same type",
    "the other match is longer",
    "the other dictionary has priority",
    "the other match begins earlier",
    "the other type comes first by name",
)


@dataclass(slots=True)
class Match:
    """A phrase in a sentence, and whether it counts."""

    start: int  # token indices, half-open
    end: int
    type_number: int  # 1-based, types sorted by name
    priority: int
    phrase_ids: tuple[int, ...]  # the phrase it is credited to, then others with the same tokens
    outcome: int = KEPT
    winner: int = -1  # position of the match it lost to
    # (end, phrase id) of the same type that also begin here and end earlier: not matches themselves
    shorter: tuple[tuple[int, int], ...] = ()


class Resolver:
    """Finds phrases in sentences and decides which of them count as labels."""

    def __init__(self, matcher: Matcher, dictionaries: Sequence[Dictionary]) -> None:
        self.matcher = matcher
        self.rules = Rules(matcher.phrases, matcher.dictionary_of, dictionaries)

    def matches(
        self,
        tokens: Sequence[str],
        patterns: Sequence[Occurrence] = (),
        never: Sequence[tuple[int, int]] = (),
    ) -> list[Match]:
        """Return the matches of one sentence, kept and lost, by start and type.

        `patterns` are where its patterns match, `never` the phrases in it that are no entity.
        """
        places = self.matcher.scan(tokens)
        if patterns:
            places += patterns
        if never:
            places = [place for place in places if not is_blocked(*place[:2], never)]
        if self.matcher.finds_out_of_order or patterns:
            places.sort()
        return self.rules.settle(places)


def is_blocked(start: int, end: int, never: Sequence[tuple[int, int]]) -> bool:
    """Return whether a phrase overlaps one that is never an entity and not shorter than it."""
    return any(
        start < last and first < end and last - first >= end - start for first, last in never
    )


class Rules:
    """Decides between phrases that occur in a sentence, by their types and priorities."""

    def __init__(
        self,
        phrases: Sequence[Phrase],
        dictionary_of: Sequence[int],
        dictionaries: Sequence[Dictionary],
    ) -> None:
        self.types = tuple(sorted({phrase.entity_type for phrase in phrases}))
        number = {name: i for i, name in enumerate(self.types, start=1)}
        self._phrases, self._dictionary_of = phrases, dictionary_of
        self._names = [dictionary.name for dictionary in dictionaries]
        self._type_of = [number[phrase.entity_type] for phrase in phrases]
        priorities = [dictionary.priority for dictionary in dictionaries]
        self._priority_of = [priorities[i] for i in dictionary_of]

    def settle(self, places: list[Occurrence]) -> list[Match]:
        """Return the matches of one sentence, given all phrases that occur in it by start."""
        if not places:
            return []
        matches = self._longest_by_type(places)
        if len(matches) > 1:
            _settle_within_types(matches)
            _settle_between_types(matches)
        return matches

    def settle_rows(self, rows: npt.NDArray[np.int32]) -> Iterator[tuple[int, list[Match]]]:
        """Yield the matches by sentence; rows are sentence, start, end and phrase of a place."""
        places: list[Occurrence] = []
        sentence = -1
        for number, start, end, phrase_id in rows[np.lexsort(rows.T[::-1])].tolist():
            if number != sentence:
                if places:
                    yield sentence, self.settle(places)
                sentence, places = number, []
            if places and places[-1][:2] == (start, end):
                places[-1] = (start, end, (*places[-1][2], phrase_id))
            else:
                places.append((start, end, (phrase_id,)))
        if places:
            yield sentence, self.settle(places)

    def phrase_table(self) -> pd.DataFrame:
        """Return every phrase by its id: text, entity type, canonical id, dictionary."""
        phrases, count = self._phrases, len(self._phrases)
        # Arrays of objects, or pandas would inspect a million strings to guess their type.
        types = np.array(("", *self.types), dtype=object)
        names = np.array(self._names, dtype=object)
        return pd.DataFrame(
            {
                "phrase": np.fromiter((p.text for p in phrases), object, count),
                "entity_type": types[np.array(self._type_of, dtype=np.intp)],
                "canonical_id": np.fromiter((p.canonical_id for p in phrases), object, count),
                "dictionary": names[np.array(self._dictionary_of, dtype=np.intp)],
            },
            dtype=object,
        )

    def _longest_by_type(self, places: list[Occurrence]) -> list[Match]:
        """Return the longest phrase per type and token; equal ones are one match."""
        matches: list[Match] = []
        type_of, priority_of = self._type_of, self._priority_of
        i, count = 0, len(places)
        while i < count:
            start, end, ids = places[i]
            i += 1
            if len(ids) == 1 and (i == count or places[i][0] != start):  # the usual case
                matches.append(Match(start, end, type_of[ids[0]], priority_of[ids[0]], ids))
                continue
            first = i - 1
            while i < count and places[i][0] == start:
                i += 1
            matches += self._longest_at(start, places[first:i])
        return matches

    def _longest_at(self, start: int, places: list[Occurrence]) -> list[Match]:
        longest: dict[int, tuple[int, list[int]]] = {}  # by type
        shorter: dict[int, list[tuple[int, int]]] = {}
        for _, end, phrase_ids in places:  # the shortest first
            for phrase_id in phrase_ids:
                type_number = self._type_of[phrase_id]
                known, ids = longest.get(type_number, (0, []))
                if end > known:
                    shorter.setdefault(type_number, []).extend((known, id) for id in ids)
                    longest[type_number] = (end, [phrase_id])
                elif phrase_id not in ids:
                    ids.append(phrase_id)
        return [
            self._match(start, end, type_number, ids, shorter[type_number])
            for type_number, (end, ids) in sorted(longest.items())
        ]

    def _match(
        self, start: int, end: int, type_number: int, ids: list[int], shorter: list[tuple[int, int]]
    ) -> Match:
        if len(ids) > 1:
            ids.sort(key=self._credit_order)
        priority = self._priority_of[ids[0]]
        return Match(start, end, type_number, priority, tuple(ids), shorter=tuple(shorter))

    def _credit_order(self, phrase_id: int) -> tuple[int, str, str]:
        dictionary = self._dictionary_of[phrase_id]
        text = self._phrases[phrase_id].text
        return (-self._priority_of[phrase_id], self._names[dictionary], text)


def _settle_within_types(matches: list[Match]) -> None:
    last: dict[int, int] = {}  # type -> position of the match taken last
    for position, match in enumerate(matches):
        taken = last.get(match.type_number)
        if taken is not None and match.start < matches[taken].end:
            match.outcome, match.winner = SAME_TYPE, taken
        else:
            last[match.type_number] = position


def _settle_between_types(matches: list[Match]) -> None:
    """Choose winners in each stretch of the sentence where taken matches overlap."""
    stretch: list[int] = []
    reach = 0
    for position, match in enumerate(matches):
        if match.outcome != KEPT:
            continue
        if match.start >= reach:
            if len(stretch) > 1:
                _settle_stretch(matches, stretch)
            stretch = []
        stretch.append(position)
        reach = max(reach, match.end)
    if len(stretch) > 1:
        _settle_stretch(matches, stretch)


def _settle_stretch(matches: list[Match], stretch: list[int]) -> None:
    kept: list[int] = []
    for _, position in sorted((_rank(matches[position]), position) for position in stretch):
        match = matches[position]
        for other in kept:
            winner = matches[other]
            if match.start < winner.end and winner.start < match.end:
                match.outcome, match.winner = _reason(winner, match), other
                break
        else:
            kept.append(position)


def _rank(match: Match) -> tuple[int, int, int, int]:
    return (match.start - match.end, -match.priority, match.start, match.type_number)


def _reason(winner: Match, loser: Match) -> int:
    first_difference = next(
        i for i, (a, b) in enumerate(zip(_rank(winner), _rank(loser), strict=True)) if a != b
    )
    return (LONGER, PRIORITY, EARLIER, TYPE_NAME)[first_difference]
