"""Families: the spellings of a phrase under one type, and their matches in a text."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from engine.dictionaries import begins_lower
from engine.health.entries import Example, folded
from engine.labels import DistantLabels
from engine.text import Sentence


@dataclass(slots=True)
class MatchPlace:
    example: Example
    surface: str
    is_short_form: bool  # the text defines it as an abbreviation of the phrase


@dataclass(slots=True)
class Family:
    """The spellings of a phrase under one type, and their matches."""

    folded: str
    entity_type: str
    texts: dict[str, None] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    places: list[MatchPlace] = field(default_factory=list)

    @property
    def is_word(self) -> bool:
        return " " not in self.folded

    @property
    def is_capital(self) -> bool:
        """Whether all spellings begin with a capital."""
        return all(begins_lower(text) is False for text in self.texts)

    @property
    def is_acronym(self) -> bool:
        return any(len(text) > 1 and text.isupper() for text in self.texts)


def find_families(
    labels: DistantLabels, sentences: Sequence[Sentence]
) -> dict[tuple[str, str], Family]:
    """Return the phrases with a match, by their folded text and type."""
    texts, ids = labels.phrases["phrase"].to_numpy(), labels.phrases["canonical_id"].to_numpy()
    kept = labels.kept
    further: dict[int, list[int]] = {}
    for match, phrase in zip(labels.also["match"], labels.also["phrase"], strict=True):
        further.setdefault(match, []).append(phrase)
    families: dict[tuple[str, str], Family] = {}
    same_form = cache(folded)  # a phrase and a surface are met as often as they match
    for match, i, start, end, number, phrase in zip(
        kept.index.tolist(),
        *(kept[name].tolist() for name in ("sentence", "start", "end", "type", "phrase")),
        strict=True,
    ):
        key = (same_form(texts[phrase]), labels.types[number - 1])
        family = families.get(key)
        if family is None:
            family = families[key] = Family(*key)
        for row in (phrase, *further.get(match, ())):
            family.texts[texts[row]] = None
            if ids[row]:
                family.ids.add(ids[row])
        surface = sentences[i].surface(start, end)
        same = same_form(surface)
        is_short = same != key[0] and same.replace(" ", "") != key[0].replace(" ", "")
        family.places.append(MatchPlace(Example(i, start, end), surface, is_short))
    return families
