"""Decide which of the phrases that occur in a text count as labels, and why others do not.

The result does not depend on the order of dictionaries and phrases:

1. Within a type, from left to right: take the longest phrase that begins at a token and continue
   right after it, so adjacent matches are all taken.
2. Between types, where taken matches overlap: the longer one (in tokens) wins; then the one from
   the dictionary with the higher priority; then the one that begins earlier; then the type whose
   name comes first in the alphabet.
3. Before that, a phrase counts as absent where it overlaps one that is never an entity and has at
   least as many tokens. A longer phrase stays: "cold" on the list leaves "common cold" alone.
4. A match that loses is recorded with the reason and its winner. Nothing takes its place.

Rules 1 and 2 go from match to match within a sentence. The loops here take one such step in all
sentences at once, so that numpy does the work.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.dictionaries import Dictionary, Phrase

KEPT, SAME_TYPE, LONGER, PRIORITY, EARLIER, TYPE_NAME = range(6)
OUTCOMES = (
    "kept",
    "overlaps an earlier match of the same type",
    "the other match is longer",
    "the other dictionary has priority",
    "the other match begins earlier",
    "the other type comes first by name",
)

_Rows = npt.NDArray[np.int32]
_Numbers = npt.NDArray[np.int64]
_Flags = npt.NDArray[np.bool_]


class Choice(NamedTuple):
    """Which phrases count, as rows in text order; see `DistantLabels` for the columns."""

    matches: _Rows  # sentence, start, end, type, phrase, outcome, winner
    also: _Rows  # match, phrase
    shorter: _Rows  # sentence, start, end, phrase


def is_blocked(start: int, end: int, never: Sequence[tuple[int, int]]) -> bool:
    """Return whether a phrase overlaps one that is never an entity and not shorter than it."""
    return any(
        start < last and first < end and last - first >= end - start for first, last in never
    )


class Rules:
    """Decides between phrases that occur in a text, by their types and priorities."""

    def __init__(
        self,
        phrases: Sequence[Phrase],
        dictionary_of: Sequence[int],
        dictionaries: Sequence[Dictionary],
    ) -> None:
        self.types = tuple(sorted({phrase.entity_type for phrase in phrases}))
        number = {name: i for i, name in enumerate(self.types, start=1)}
        count = len(phrases)
        self._phrases = phrases
        self._names = [dictionary.name for dictionary in dictionaries]
        self._dictionary_of = np.array(dictionary_of, np.int32).reshape(count)
        self._type_of = np.fromiter((number[p.entity_type] for p in phrases), np.int32, count)
        priorities = np.array([dictionary.priority for dictionary in dictionaries], np.int64)
        self._priority_of = priorities[self._dictionary_of]

    def choose(self, places: _Rows) -> Choice:
        """Return the matches, given sentence, start, end and phrase of every place of a phrase."""
        if not len(places):
            return Choice(*(np.zeros((0, width), np.int32) for width in (7, 2, 4)))
        places, types = self._in_order(places)
        is_match, is_longest, match_of = _longest_by_type(places, types)
        first, further = self._credited(places, is_longest, match_of)
        matches = np.zeros((int(is_match.sum()), 7), np.int32)
        matches[:, :3], matches[:, 3] = places[is_match, :3], types[is_match]
        matches[:, 4], matches[:, 6] = first, -1
        _settle_within_types(matches)
        _settle_between_types(matches, self._priority_of[first])
        return Choice(matches, further, places[~is_longest])

    def phrase_table(self) -> pd.DataFrame:
        """Return every phrase by its id: text, entity type, canonical id, dictionary."""
        phrases, count = self._phrases, len(self._phrases)
        # Arrays of objects, or pandas would inspect a million strings to guess their type.
        types = np.array(("", *self.types), dtype=object)
        names = np.array(self._names, dtype=object)
        return pd.DataFrame(
            {
                "phrase": np.fromiter((p.text for p in phrases), object, count),
                "entity_type": types[self._type_of],
                "canonical_id": np.fromiter((p.canonical_id for p in phrases), object, count),
                "dictionary": names[self._dictionary_of],
            },
            dtype=object,
        )

    def _in_order(self, places: _Rows) -> tuple[_Rows, _Rows]:
        """Return the places by sentence, start, type, end and phrase, each once, and types."""
        types = self._type_of[places[:, 3]]
        sentence, start, end, phrase = places.T.astype(np.int64)
        place = (sentence * (int(start.max()) + 1) + start) * (len(self.types) + 1) + types
        inner = end * len(self._phrases) + phrase
        order = np.lexsort((inner, place))
        place, inner = place[order], inner[order]
        is_new = np.ones(len(order), bool)
        is_new[1:] = (place[1:] != place[:-1]) | (inner[1:] != inner[:-1])
        order = order[is_new]
        return places[order], types[order]

    def _credited(
        self, places: _Rows, is_longest: _Flags, match_of: _Numbers
    ) -> tuple[_Rows, _Rows]:
        """Return the phrase that each match is credited to, and (match, phrase) for further ones.

        The dictionary with the higher priority goes first, then names and texts decide.
        """
        match, phrase = match_of[is_longest], places[is_longest, 3]
        is_shared = np.bincount(match)[match] > 1
        if is_shared.any():
            rank = np.zeros(len(phrase), np.int64)
            ids, number = np.unique(phrase[is_shared], return_inverse=True)
            keys = [self._credit_order(i) for i in ids.tolist()]
            place = {key: i for i, key in enumerate(sorted(set(keys)))}
            rank[is_shared] = np.array([place[key] for key in keys])[number]
            order = np.lexsort((rank, match))  # stable: phrases with the same rank stay by id
            phrase = phrase[order]
        is_first = np.ones(len(match), bool)
        is_first[1:] = match[1:] != match[:-1]
        further = np.column_stack([match[~is_first], phrase[~is_first]]).astype(np.int32)
        return phrase[is_first], further

    def _credit_order(self, phrase_id: int) -> tuple[int, str, str]:
        name = self._names[self._dictionary_of[phrase_id]]
        return -int(self._priority_of[phrase_id]), name, self._phrases[phrase_id].text


def _longest_by_type(places: _Rows, types: _Rows) -> tuple[_Flags, _Flags, _Numbers]:
    """Return which place stands for a match, which are as long as it, and the match of each.

    A match is all places of the longest phrases of a type that begin at a token.
    """
    is_last = np.ones(len(places), bool)  # of its sentence, start and type: the longest
    is_last[:-1] = (
        (places[1:, 0] != places[:-1, 0])
        | (places[1:, 1] != places[:-1, 1])
        | (types[1:] != types[:-1])
    )
    match_of = np.cumsum(is_last) - is_last
    is_longest = places[:, 2] == places[is_last, 2][match_of]
    return is_last, is_longest, match_of


def _settle_within_types(matches: _Rows) -> None:
    """Mark the matches that begin inside an earlier one of their type that was taken."""
    sentence, start, end, type_number = matches[:, :4].T.astype(np.int64)
    order = np.lexsort((start, type_number, sentence))
    group = sentence[order] * (int(type_number.max()) + 1) + type_number[order]
    width = int(end.max()) + 1
    starts, ends = group * width + start[order], group * width + end[order]
    following = np.searchsorted(starts, ends)  # the match that may be taken next
    count = len(order)
    # The first of several overlapping matches is taken; the next ones are found step by step.
    is_taken = np.ones(count, bool)
    is_taken[1:] = starts[1:] >= np.maximum.accumulate(ends)[:-1]
    cluster = np.append(np.cumsum(is_taken), 0)  # 0 is after the last match
    at = np.flatnonzero(is_taken)
    while len(at := at[cluster[following[at]] == cluster[at]]):
        at = following[at]
        is_taken[at] = True
    winner = np.maximum.accumulate(np.where(is_taken, np.arange(count), 0))
    lost = order[~is_taken]
    matches[lost, 5], matches[lost, 6] = SAME_TYPE, order[winner[~is_taken]]


def _settle_between_types(matches: _Rows, priority: _Numbers) -> None:
    """Choose winners in each stretch of a sentence where taken matches overlap."""
    taken = np.flatnonzero(matches[:, 5] == KEPT)
    sentence, start, end, type_number = matches[taken, :4].T.astype(np.int64)
    width = int(end.max()) + 1
    reach = np.maximum.accumulate(sentence * width + end)
    is_new = np.ones(len(taken), bool)
    is_new[1:] = sentence[1:] * width + start[1:] >= reach[:-1]
    stretch = np.cumsum(is_new)
    is_contested = np.bincount(stretch)[stretch] > 1
    if not is_contested.any():
        return
    taken, stretch = taken[is_contested], stretch[is_contested]
    # The best first: longer, higher priority, earlier, first type by name.
    rank = np.column_stack([start - end, np.zeros_like(start), start, type_number])[is_contested]
    rank[:, 1] = -priority[taken]
    order = np.lexsort((*rank.T[::-1], stretch))
    taken, stretch, rank = taken[order], stretch[order], rank[order]
    start, end = matches[taken, 1], matches[taken, 2]
    left = np.arange(len(taken))
    while len(left):
        is_best = np.ones(len(left), bool)
        is_best[1:] = stretch[left[1:]] != stretch[left[:-1]]
        best = left[is_best][np.cumsum(is_best) - 1]
        is_lost = (start[left] < end[best]) & (start[best] < end[left]) & ~is_best
        lost, winner = left[is_lost], best[is_lost]
        reason = np.argmax(rank[lost] != rank[winner], axis=1)
        matches[taken[lost], 5] = LONGER + reason
        matches[taken[lost], 6] = taken[winner]
        left = left[~is_lost & ~is_best]
