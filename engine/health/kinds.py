"""Kinds of names: phrases that end with the same word, or lie in one branch of the ids.

A dictionary may hold kinds of things that nobody looks for, such as all proteins of a large
vocabulary. Neither the phrases nor the text says which, but a person who knows the subject does, at
a glance. So kinds are listed by how many matches they have, and nothing is proposed.

Names of one thing, which share an id, are of the kind of any of them: "VEGF" is a factor if the
dictionary also calls it "vascular endothelial growth factor".
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from engine.dictionaries import Dictionary, Phrase, active_phrases, is_stop_word, singular
from engine.health.entries import KEEP, SHOWN_EXAMPLES, Example, HealthEntry, Kind, Pair
from engine.health.families import Family
from engine.health.ids import branches_of, places_above, places_of
from engine.health.inverted import natural_order

_FEWEST_NAMES = 20  # in the dictionaries
_FEWEST_PHRASES, _FEWEST_MATCHES = 2, 5  # in the text
_MOST_OF_ONE = 0.5  # share of the matches; a kind that is mostly one phrase is that phrase
_MOST_OF_TYPE = 0.1  # share of a type's matches; a larger branch is split
_MOST = 50  # kinds
_WORDS = 100_000  # that are remembered
_SHOWN = 4  # phrases with most matches

_Members = dict[Kind, list[Family]]


def find_kinds(
    dictionaries: Sequence[Dictionary],
    families: Mapping[Pair, Family],
    kept: Collection[str] = (),
) -> tuple[HealthEntry, ...]:
    """Return the kinds of names, those with most matches that no kind before them has first.

    Kinds whose key is in `kept` are left out.
    """
    names = _Names(dictionaries, families)
    members: _Members = {}
    for family in families.values():
        for kind in names.kinds(family):
            members.setdefault(kind, []).append(family)
    sizes = names.sizes(members)
    members = {kind: own for kind, own in members.items() if sizes[kind] >= _FEWEST_NAMES}
    branches = _outer_branches(members, families, names)
    members = {k: own for k, own in members.items() if not k.branch or k in branches}
    entries = (_entry(kind, own, names, sizes[kind]) for kind, own in _by_new_matches(members))
    return tuple(entry for entry in entries if entry.key not in kept)[:_MOST]


def kind_members(dictionaries: Sequence[Dictionary], kinds: Iterable[Kind]) -> set[Pair]:
    """Return all phrases of these kinds, matched or not."""
    wanted = set(kinds)
    ids: set[Pair] = set()
    pairs: set[Pair] = set()
    for phrase in _phrases(dictionaries):
        if not wanted.isdisjoint(_own_kinds(phrase)):
            pairs.add((phrase.text, phrase.entity_type))
            if phrase.canonical_id:
                ids.add((phrase.canonical_id, phrase.entity_type))
    for phrase in _phrases(dictionaries):
        if (phrase.canonical_id, phrase.entity_type) in ids:
            pairs.add((phrase.text, phrase.entity_type))
    return pairs


class _Names:
    """What the names of each thing end with, and where it lies in the tree of ids."""

    def __init__(self, dictionaries: Sequence[Dictionary], families: Mapping[Pair, Family]) -> None:
        self._dictionaries = dictionaries
        matched = {(id, family.entity_type) for family in families.values() for id in family.ids}
        self._kinds: dict[Pair, set[Kind]] = {pair: set() for pair in matched}
        for phrase in _phrases(dictionaries):
            own = self._kinds.get((phrase.canonical_id, phrase.entity_type))
            if own is not None:
                own.update(_own_kinds(phrase))
        self._titles: dict[str, str] = {}

    def kinds(self, family: Family) -> set[Kind]:
        """Return the kinds of a phrase: its own and those of its other names."""
        own = set().union(*(self._kinds[id, family.entity_type] for id in family.ids))
        words = {_last_word(text) for text in family.texts}
        return own | {Kind(family.entity_type, word=word) for word in words if _is_telling(word)}

    def sizes(self, wanted: Collection[Kind]) -> Counter[Kind]:
        """Return of how many things the dictionaries have a name of each kind."""
        words = {(k.entity_type, k.word): set[str]() for k in wanted if k.word}
        branches = {(k.entity_type, k.branch): set[str]() for k in wanted if k.branch}
        latest = "", ""  # names of one thing mostly follow each other
        for phrase in _phrases(self._dictionaries):
            id, entity_type = phrase.canonical_id, phrase.entity_type
            if (own := words.get((entity_type, _last_word(phrase.text)))) is not None:
                own.add(id or phrase.text.casefold())
            if branches and (id, entity_type) != latest:
                latest = id, entity_type
                for branch in branches_of(id):
                    if (own := branches.get((entity_type, branch))) is not None:
                        own.add(id)
        self._find_titles({branch for _, branch in branches})
        sizes = Counter[Kind]()
        for kind in wanted:
            named = words if kind.word else branches
            sizes[kind] = len(named[kind.entity_type, kind.word or kind.branch])
        return sizes

    def _find_titles(self, branches: set[str]) -> None:
        for dictionary in self._dictionaries if branches else ():
            for phrase in dictionary.phrases:  # one that is muted still says what a branch is
                for place in branches.intersection(places_of(phrase.canonical_id)):
                    self._titles.setdefault(place, phrase.text)

    def title(self, kind: Kind) -> str:
        """Return the name of the place of a branch; "" if no phrase has that id."""
        return self._titles.get(kind.branch, "")


def _phrases(dictionaries: Sequence[Dictionary]) -> Iterator[Phrase]:
    return (phrase for dictionary in dictionaries for phrase in active_phrases(dictionary))


def _own_kinds(phrase: Phrase) -> Iterator[Kind]:
    """Yield the kinds that a phrase by itself is of."""
    word = _last_word(phrase.text)
    if _is_telling(word):
        yield Kind(phrase.entity_type, word=word)
    for branch in branches_of(phrase.canonical_id):
        yield Kind(phrase.entity_type, branch=branch)


def _last_word(text: str) -> str:
    """Return what a name ends with, in lower case and the singular, inverted names put right."""
    natural = (natural_order(text) or text) if ", " in text else text
    return _ending(natural.rpartition(" ")[2])


@lru_cache(_WORDS)
def _ending(word: str) -> str:
    return singular(word.casefold())


@lru_cache(_WORDS)
def _is_telling(word: str) -> bool:
    """Return whether a word may name a kind: no number, letter, Roman numeral or stop word."""
    is_word = len(word) > 2 and word.isalpha() and not is_stop_word(word)
    return is_word and not set(word) <= set("iv")


def _matches(families: Iterable[Family]) -> int:
    return sum(len(family.places) for family in families)


def _outer_branches(members: _Members, families: Mapping[Pair, Family], names: _Names) -> set[Kind]:
    """Return the outermost branches that do not hold too much of their type.

    Of branches with the same phrases, the outermost with a name stands for all.
    """
    totals: Counter[str] = Counter()
    for family in families.values():
        totals[family.entity_type] += len(family.places)
    fitting: dict[tuple[str, ...], Kind] = {}
    for kind in sorted(members, key=lambda kind: (not names.title(kind), kind.branch)):
        own = members[kind]
        if kind.branch and _matches(own) <= _MOST_OF_TYPE * totals[kind.entity_type]:
            phrases = sorted(family.folded for family in own)
            fitting.setdefault((kind.entity_type, *phrases), kind)
    branches = {(kind.entity_type, kind.branch) for kind in fitting.values()}
    return {
        kind
        for kind in fitting.values()
        if not any((kind.entity_type, above) in branches for above in places_above(kind.branch))
    }


def _by_new_matches(members: _Members) -> Iterator[tuple[Kind, list[Family]]]:
    """Yield kinds, each time the one with most matches that no kind before it has."""
    left = {kind: {(f.folded, f.entity_type): f for f in own} for kind, own in members.items()}
    while left:
        kind = max(left, key=lambda kind: (_matches(left[kind].values()), str(kind)))
        new = left.pop(kind)
        if _matches(new.values()) < _FEWEST_MATCHES:
            return
        most = max(len(family.places) for family in new.values())
        if len(new) < _FEWEST_PHRASES or most > _MOST_OF_ONE * _matches(new.values()):
            continue
        yield kind, members[kind]
        for own in left.values():
            for key in new:
                own.pop(key, None)


def _examples(ranked: Sequence[Family]) -> list[Example]:
    """Return the first places of the phrases with most matches, then their second ones."""
    shown = ranked[:SHOWN_EXAMPLES]
    places = range(SHOWN_EXAMPLES)
    return [own.places[i].example for i in places for own in shown if i < len(own.places)]


def _entry(kind: Kind, own: Sequence[Family], names: _Names, size: int) -> HealthEntry:
    ranked = sorted(own, key=lambda family: (-len(family.places), family.folded))
    shown = ", ".join(f"“{next(iter(f.texts))}” ({len(f.places):,})" for f in ranked[:_SHOWN])
    if kind.word:
        what = f"{size:,} things in the dictionary have a name that ends with “{kind.word}”"
    else:
        what = f"{size:,} things in the dictionary are below {kind.branch}"
    more = f" and {len(ranked) - _SHOWN:,} more" if len(ranked) > _SHOWN else ""
    return HealthEntry(
        "kind of names",
        f"{what}; in the text: {shown}{more}.",
        tuple((text, family.entity_type) for family in ranked for text in family.texts),
        _matches(own),
        0.0,
        KEEP,
        tuple(_examples(ranked)[:SHOWN_EXAMPLES]),
        kind,
        names.title(kind),
    )
