"""List what a person can judge to measure a run: its entities, and passages that may hold more.

Every true name belongs to exactly one unit, so that counts over all units add up to the true
scores. A name belongs to the first predicted entity that touches it; a name that no entity touches
belongs to the passage in which it begins. A passage is a sentence, or a part of a long one.
"""

import hashlib
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engine.scoring.checking import Place
from engine.scoring.pool import on_tokens
from engine.text import Document, EntitiesByDocument, Entity

MOST_NAMES = 9  # that an answer can count: one key
PASSAGE = ""  # the type of a place that is a passage
_LONGEST_PASSAGE = 40  # tokens; a person reads it at a glance
_NO_SCORE = 0.8  # taken for the score of entities without one
_ENTITY_STRATA, _PASSAGE_STRATA = 3, 3
_FEWEST = 10  # units of a stratum
_FLOOR = 0.02  # names that a passage may hold although the confidence says none


class Answer(NamedTuple):
    """What a person says about one unit."""

    is_right: bool  # the predicted entity is right; False for a passage
    names: int  # how many true names belong to the unit; 1 if the entity is right


class Stratum(NamedTuple):
    """Units that are likely to get similar answers, in the random order in which they are drawn."""

    is_passage: bool
    units: npt.NDArray[np.int64]  # indices into Units.places
    expected: float  # mean score of the entities, or mean expected names of the passages


@dataclass(frozen=True, slots=True)
class Units:
    """All units of a run's predictions on a text, in reading order, and their strata."""

    places: tuple[Place, ...]  # the type of a passage is PASSAGE
    strata: tuple[Stratum, ...]

    @property
    def entity_count(self) -> int:
        return sum(len(stratum.units) for stratum in self.strata if not stratum.is_passage)


def make_units(
    documents: Sequence[Document],
    entities: EntitiesByDocument,
    confidence: npt.NDArray[np.floating] | None = None,
    *,
    seed: int = 0,
) -> Units:
    """Return the units of these predictions.

    `confidence` is how likely each token of the documents is part of a name, in their order. It
    only groups the passages: a bad one makes the estimate less certain, but not wrong.
    """
    fitted = on_tokens(documents, entities)
    places: list[Place] = []
    expected: list[float] = []
    first = 0
    for document in documents:
        found = sorted(fitted.get(document.id, ()), key=lambda entity: entity.start)
        for entity in found:
            places.append((document.id, entity.start, entity.end, entity.entity_type))
            expected.append(_NO_SCORE if entity.score is None else entity.score)
        for sentence in document.sentences:
            starts, ends = sentence.token_bounds()
            is_free = _outside(starts, found)
            doubt = is_free.astype(float)
            if confidence is not None:
                doubt = doubt * confidence[first : first + len(starts)]
            for a in range(0, len(starts), _LONGEST_PASSAGE):
                b = min(a + _LONGEST_PASSAGE, len(starts))
                if is_free[a:b].any():
                    places.append((document.id, starts[a], ends[b - 1], PASSAGE))
                    expected.append(_FLOOR + float(doubt[a:b].sum()))
            first += len(starts)
    values = np.array(expected, dtype=np.float64)
    is_passage = np.array([place[3] == PASSAGE for place in places], dtype=bool)
    strata = []
    for kind, parts in ((False, _ENTITY_STRATA), (True, _PASSAGE_STRATA)):
        chosen = np.flatnonzero(is_passage == kind)
        spread = np.sqrt(values if kind else np.clip(values * (1 - values), 0.01, None))
        for units in _cut(chosen, values, spread, parts):
            strata.append(Stratum(kind, units, float(values[units].mean())))
    return shuffled(Units(tuple(places), tuple(strata)), seed)


def shuffled(units: Units, seed: int) -> Units:
    """Return the units with another random order in each stratum: another sample."""
    lots = [hashlib.sha256(repr((seed, place)).encode()).digest() for place in units.places]

    def mixed(chosen: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return np.array(sorted(chosen.tolist(), key=lots.__getitem__), dtype=np.int64)

    strata = tuple(stratum._replace(units=mixed(stratum.units)) for stratum in units.strata)
    return replace(units, strata=strata)


def answers_from_gold(
    units: Units, documents: Sequence[Document], gold: EntitiesByDocument
) -> dict[Place, Answer]:
    """Return what a person who agrees with the gold says about each unit in its documents."""
    by_document: dict[str, list[Place]] = {}
    for place in units.places:
        by_document.setdefault(place[0], []).append(place)
    answers: dict[Place, Answer] = {}
    for id, true in on_tokens(documents, gold).items():
        places = by_document.get(id, [])
        marks = [place for place in places if place[3] != PASSAGE]
        passages = [place for place in places if place[3] == PASSAGE]
        ends, starts = [mark[2] for mark in marks], [passage[1] for passage in passages]
        owned = dict.fromkeys(places, 0)
        for name in true:
            i = bisect_right(ends, name.start)  # the first that ends after the name begins
            is_touched = i < len(marks) and marks[i][1] < name.end
            owner = marks[i] if is_touched else passages[bisect_right(starts, name.start) - 1]
            owned[owner] += 1
        right = {(id, name.start, name.end, name.entity_type) for name in true}
        for place, count in owned.items():
            answers[place] = Answer(place in right, min(count, MOST_NAMES))
    return answers


def _outside(starts: Sequence[int], found: Sequence[Entity]) -> npt.NDArray[np.bool_]:
    """Which of these tokens lie in none of the entities, which are in order and do not overlap."""
    begins = np.array([entity.start for entity in found], dtype=np.int64)
    reach = np.array([-1, *(entity.end for entity in found)], dtype=np.int64)
    before = np.searchsorted(begins, starts, side="right")
    return np.asarray(reach[before] <= np.asarray(starts))


def _cut(
    chosen: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
    spread: npt.NDArray[np.float64],
    parts: int,
) -> list[npt.NDArray[np.int64]]:
    """Cut units by their value into parts with equal sums of `spread`; each keeps its order."""
    if not len(chosen):
        return []
    by_value = chosen[np.argsort(values[chosen], kind="stable")]
    parts = max(1, min(parts, len(np.unique(values[chosen])), len(chosen) // _FEWEST))
    reached = np.cumsum(spread[by_value])
    part_of = np.zeros(len(values), dtype=np.int64)
    part_of[by_value] = np.minimum(reached / reached[-1] * parts, parts - 1).astype(np.int64)
    cut = [chosen[part_of[chosen] == part] for part in range(parts)]
    return [units for units in cut if len(units)]
