"""Reasons to doubt a match, each with a probability of being wrong."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from engine.dictionaries import (
    Dictionary,
    active_phrases,
    begins_lower,
    is_common_word,
    is_stop_phrase,
    is_unit,
)
from engine.health.entries import AS_WRITTEN, KEEP, MUTE, SHOWN_EXAMPLES, HealthEntry, folded
from engine.health.families import Family
from engine.health.heads import Heads
from engine.health.word_counts import WordCounts
from engine.labels import LOWER_SHARE, DistantLabels, DoubtfulPhrase

_SURE, _EITHER = 0.9, 0.5
_FAR_MORE = 3  # times the matches of the next phrase
_FEWEST_FREQUENT = 20  # matches


class _Doubt(NamedTuple):
    kind: str
    reason: str
    wrong: list[float]  # for each match, how likely it is wrong


class Reasons:
    """What speaks against the matches of a phrase."""

    def __init__(
        self,
        dictionaries: Sequence[Dictionary],
        labels: DistantLabels,
        text: WordCounts,
        families: Mapping[tuple[str, str], Family],
        doubtful: Sequence[DoubtfulPhrase],
    ) -> None:
        self._text = text
        self._heads = Heads(dictionaries, families)
        self._capital_types = _capital_types(families.values())
        self._doubtful = {(folded(d.phrase), d.entity_type): d for d in doubtful}
        self._types = _types_by_phrase(dictionaries, families)
        self._next = _next_counts(families.values())
        self._is_tiny = cache(_is_tiny)  # a surface is met as often as it matches

    def entry(self, family: Family) -> HealthEntry | None:
        """Return the entry of a phrase; None if nothing speaks against it."""
        doubts = [doubt for doubt in self._doubts(family) if any(doubt.wrong)]
        if not doubts:
            return None
        main = max(doubts, key=lambda doubt: sum(doubt.wrong))  # the first of equal ones
        wrong = [max(chances) for chances in zip(*(d.wrong for d in doubts), strict=True)]
        ranked = sorted(range(len(wrong)), key=lambda i: (-wrong[i], i))
        return HealthEntry(
            main.kind,
            main.reason,
            tuple((text, family.entity_type) for text in family.texts),
            len(wrong),
            sum(wrong),
            _proposal(family, wrong),
            tuple(family.places[i].example for i in ranked[:SHOWN_EXAMPLES]),
        )

    def _doubts(self, family: Family) -> list[_Doubt]:
        checks = (
            self._stop_word, self._tiny, self._doubt_of_text, self._generic, self._lower_case,
            self._everyday, self._class, self._two_types, self._frequent, self._parent,
        )  # fmt: skip
        return [doubt for check in checks if (doubt := check(family)) is not None]

    def _stop_word(self, family: Family) -> _Doubt | None:
        if family.is_acronym or not all(map(is_stop_phrase, family.texts)):
            return None
        return _Doubt("stop word", "It has no meaning by itself.", self._as_word(family))

    def _everyday(self, family: Family) -> _Doubt | None:
        if not family.is_word or family.is_acronym or not self._text.is_everyday(family.folded):
            return None
        reason = "An everyday word, and this text uses it no more than others do."
        return _Doubt("everyday word", reason, self._as_word(family))

    def _generic(self, family: Family) -> _Doubt | None:
        count = self._heads.count(family) if family.is_word and not family.is_acronym else 0
        if not count:
            return None
        reason = f"It is the last word of {count:,} longer names, so alone it names none of them."
        return _Doubt("generic word", reason, self._as_word(family))

    def _class(self, family: Family) -> _Doubt | None:
        if not self._heads.is_class(family):
            return None
        reason = "It names a use that many things have: the dictionary also lists “… agents”."
        return _Doubt("name of a class", reason, self._as_word(family))

    def _parent(self, family: Family) -> _Doubt | None:
        count = self._heads.below(family)
        if not count:
            return None
        reason = f"By its id, {count:,} things are kinds of it: it may be too general."
        return _Doubt("parent of many", reason, [_EITHER] * len(family.places))

    def _tiny(self, family: Family) -> _Doubt | None:
        wrong = [_SURE * self._is_tiny(place.surface) for place in family.places]
        return _Doubt("letter, number or unit", "So short that it means many things.", wrong)

    def _lower_case(self, family: Family) -> _Doubt | None:
        if family.entity_type not in self._capital_types or not family.is_capital:
            return None
        wrong = [_SURE * (begins_lower(place.surface) is True) for place in family.places]
        count = sum(map(bool, wrong))
        reason = f"The dictionary has a capital, {count:,} of its matches begin in lower case."
        return _Doubt("lower case", reason, wrong)

    def _doubt_of_text(self, family: Family) -> _Doubt | None:
        doubt = self._doubtful.get((family.folded, family.entity_type))
        if doubt is None:
            return None
        looks = (
            f"like {doubt.looks_like}" if doubt.looks_like else "no more like it than other text"
        )
        reason = f"Judged by what stands around them, its matches look {looks}."
        return _Doubt("contradicted by the text", reason, [_SURE] * len(family.places))

    def _two_types(self, family: Family) -> _Doubt | None:
        others = self._types.get(family.folded, set()) - {family.entity_type}
        if not others:
            return None
        reason = f"It is also listed as {', '.join(sorted(others))}: only one can be right here."
        return _Doubt("two types", reason, [_EITHER] * len(family.places))

    def _frequent(self, family: Family) -> _Doubt | None:
        count, following = len(family.places), self._next[family.entity_type]
        if count < _FEWEST_FREQUENT or count <= _FAR_MORE * following:
            return None
        reason = f"No other phrase of this type has more than {following:,} matches."
        return _Doubt("far more matches", reason, [_EITHER] * count)

    def _as_word(self, family: Family) -> list[float]:
        """Return how likely each match is just the word that the phrase also is.

        In a type of names with capitals, a capital inside a sentence makes a name. Where a capital
        says nothing, at the start of a sentence or in a headline, the rest of the text decides.
        """
        has_capitals = family.entity_type in self._capital_types and family.is_capital
        chances = []
        for place in family.places:
            if place.is_short_form:
                chances.append(0.0)
            elif not has_capitals or begins_lower(place.surface):
                chances.append(_SURE)
            elif place.example.start == 0 or place.surface.isupper():
                chances.append(_SURE * self._text.lower_share(place.surface.casefold()))
            else:
                chances.append(0.0)
        return chances


def _is_tiny(surface: str) -> bool:
    return len(surface) == 1 or is_unit(surface) or not any(map(str.isalpha, surface))


def _proposal(family: Family, wrong: Sequence[float]) -> str:
    """Return the change that is expected to remove most wrong matches beyond the right ones."""
    net = [2 * chance - 1 for chance in wrong]
    other_case = [
        gain for gain, place in zip(net, family.places, strict=True)
        if not place.is_short_form and place.surface not in family.texts
    ]  # fmt: skip
    best = max(sum(net), sum(other_case))
    if best <= 1e-9:
        return KEEP
    return MUTE if sum(net) >= best else AS_WRITTEN


def _capital_types(families: Iterable[Family]) -> set[str]:
    """Return the types whose names have a capital in the text, away from the start of a sentence.

    Everyday words do not count: they are what is judged by it.
    """
    lower: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    types = set()
    begins = cache(begins_lower)
    for family in families:
        types.add(family.entity_type)
        if is_common_word(family.folded) or is_stop_phrase(family.folded):
            continue
        for place in family.places:
            if place.example.start and not place.is_short_form:
                inside[family.entity_type] += 1
                lower[family.entity_type] += begins(place.surface) is True
    return {name for name in types if lower[name] <= LOWER_SHARE * inside[name]}


def _types_by_phrase(
    dictionaries: Sequence[Dictionary], families: Mapping[tuple[str, str], Family]
) -> dict[str, set[str]]:
    """Return the types of the phrases with a match."""
    texts = {text.casefold(): key[0] for key, family in families.items() for text in family.texts}
    types: dict[str, set[str]] = {}
    for dictionary in dictionaries:
        for phrase in active_phrases(dictionary):
            if (folded := texts.get(phrase.text.casefold())) is not None:
                types.setdefault(folded, set()).add(phrase.entity_type)
    return types


def _next_counts(families: Iterable[Family]) -> dict[str, int]:
    """Return the second highest number of matches of a phrase, by type."""
    counts: dict[str, list[int]] = {}
    for family in families:
        counts.setdefault(family.entity_type, []).append(len(family.places))
    return {name: sorted([0, *values])[-2] for name, values in counts.items()}
