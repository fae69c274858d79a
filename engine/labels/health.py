"""Find what hurts most in dictionaries, from the text and the phrases alone; offer to mend it.

Every reason to doubt gives a match a probability of being wrong: 0.9 for what a person would call
wrong at first sight, 0.5 where it may be either. These are not fitted to gold; but which reasons
there are, and when they apply, was decided after looking at gold (see bench/results/health.md).
An entry joins the spellings of one phrase. It proposes the change that is expected to remove more
wrong matches than right ones, and nothing if there is none.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from typing import NamedTuple

from engine.dictionaries import (
    Dictionary,
    Phrase,
    active_phrases,
    begins_lower,
    find_phrases,
    general_share,
    is_common_word,
    is_stop_phrase,
    is_stop_word,
    is_unit,
    list_phrases,
    match_as_written,
    mute,
    singular,
)
from engine.labels.adaptation import LOWER_SHARE
from engine.labels.distant import DistantLabels
from engine.labels.likely import DoubtfulPhrase
from engine.system import without_collection
from engine.text import Sentence

MUTE, AS_WRITTEN, KEEP, ADD = "mute", "as written", "keep", "add"  # what an entry proposes

_SURE, _EITHER = 0.9, 0.5
_EVERYDAY_FACTOR = 3  # a word that the text has more often than this is a word of its subject
_HEAD_NAMES = 100  # longer names that end with a word, from which on it names a class of them
_HEAD_SHARE = 0.01  # of all phrases of a type, from which on a rare word names a class, too
_FEWEST_HEAD_NAMES = 20  # enough for an everyday word in a small dictionary, with that share
# After a name, these say that it names a use, which many things have: "analgesic agents".
_USES = frozenset(("agent", "drug", "medication", "preparation", "product"))
_FAR_MORE = 3  # times the matches of the next phrase
_FEWEST_FREQUENT = 20  # matches
_EXAMPLES = 3

Pair = tuple[str, str]  # phrase text, entity type


class Example(NamedTuple):
    """A match in its sentence."""

    sentence: int  # number in the text
    start: int  # tokens
    end: int


@dataclass(frozen=True, slots=True)
class HealthEntry:
    """One phrase in all its spellings that likely matches wrongly, and what to do about it."""

    kind: str  # in a word or two
    reason: str  # one sentence
    phrases: tuple[Pair, ...]  # as the dictionaries spell them; of ADD, those to be added
    match_count: int
    wrong: float  # how many matches are likely wrong
    proposal: str
    examples: tuple[Example, ...]

    @property
    def name(self) -> str:
        """The phrases, for a sentence."""
        return list_phrases(text for text, _ in self.phrases)

    @property
    def entity_type(self) -> str:
        """The type, or types."""
        return ", ".join(dict.fromkeys(name for _, name in self.phrases))

    @property
    def key(self) -> str:
        """What stays the same when the text or other phrases change, to remember a choice by."""
        if self.proposal == ADD:
            return ADD
        return f"{self.entity_type}: {_folded(self.phrases[0][0])}"


@dataclass(frozen=True, slots=True)
class Health:
    """What hurts in the dictionaries, the most wrong matches first."""

    entries: tuple[HealthEntry, ...]

    @property
    def proposed(self) -> tuple[HealthEntry, ...]:
        """Those with a proposal that changes something."""
        return tuple(entry for entry in self.entries if entry.proposal != KEEP)

    @property
    def harmful(self) -> tuple[HealthEntry, ...]:
        """Those with a proposal that removes wrong matches."""
        return tuple(entry for entry in self.proposed if entry.proposal != ADD)

    def __str__(self) -> str:
        """Say in a sentence how many phrases look wrong; "" if none does."""
        count = sum(len(entry.phrases) for entry in self.harmful)
        if not count:
            return ""
        wrong = max(round(sum(entry.wrong for entry in self.harmful)), 1)
        looks = "phrase looks" if count == 1 else "phrases look"
        return f"{count:,} {looks} wrong: about {wrong:,} {'match' if wrong == 1 else 'matches'}"


def check_health(
    dictionaries: Sequence[Dictionary],
    labels: DistantLabels,
    sentences: Sequence[Sentence],
    *,
    doubtful: Sequence[DoubtfulPhrase] = (),
    kept: Collection[str] = (),
) -> Health:
    """Return what likely matches wrongly, the most wrong matches first; no gold is needed.

    `doubtful` are phrases that the text contradicts, once a job has found them. Entries whose key
    is in `kept` are left out: a person decided to keep them.
    """
    with without_collection():
        text = _Text(sentences)
        families = _families(labels, sentences)
        reasons = _Reasons(dictionaries, labels, text, families, doubtful)
        entries = [
            entry for family in families.values() if (entry := reasons.entry(family)) is not None
        ]
    entries.sort(key=lambda entry: (-entry.wrong, entry.phrases))
    if (inverted := _inverted(dictionaries, text)) is not None:
        entries.append(inverted)
    return Health(tuple(entry for entry in entries if entry.key not in kept))


def mend(
    dictionaries: Sequence[Dictionary], entries: Iterable[HealthEntry], action: str | None = None
) -> list[Dictionary]:
    """Return the dictionaries with these entries mended, as they propose or all by one `action`.

    A phrase is changed in every dictionary that holds it, in any letter case, except that names in
    natural order are added to the dictionary that has them inverted.
    """
    muted: list[Pair] = []
    written: list[Pair] = []
    added: set[Pair] = set()
    for entry in entries:
        wanted = action or entry.proposal
        if entry.proposal == ADD:
            added.update(entry.phrases if wanted != KEEP else ())
        elif wanted == MUTE:
            muted += entry.phrases
        elif wanted == AS_WRITTEN:
            written += entry.phrases
    quiet = {(row.text, row.entity_type) for row in find_phrases(dictionaries, muted)}
    exact = {(row.text, row.entity_type) for row in find_phrases(dictionaries, written)}
    changed = [mute(dictionary, quiet) for dictionary in dictionaries] if quiet else dictionaries
    if exact:
        changed = [match_as_written(dictionary, exact) for dictionary in changed]
    return [_with_natural_order(dictionary, added) for dictionary in changed]


# ---- the text -------------------------------------------------------------------------------


class _Text:
    """How often words stand in the text, and in which letter case."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self.sentences = sentences
        self.counts: Counter[str] = Counter()
        self._inside: Counter[str] = Counter()  # away from the first token of a sentence
        self._lower: Counter[str] = Counter()
        # Counter counts tokens faster than a loop, so only distinct ones are looked at one by one.
        tokens = Counter(chain.from_iterable(sentence.tokens for sentence in sentences))
        first = Counter(sentence.tokens[0] for sentence in sentences)
        for token, count in tokens.items():
            word = token.casefold()
            self.counts[word] += count
            self._inside[word] += count - first[token]
            if token == word:
                self._lower[word] += count - first[token]
        self.total = max(self.counts.total(), 1)

    def lower_share(self, word: str) -> float:
        """Return how often the word is in lower case where a sentence does not force a capital."""
        # Two more places with a capital are assumed, so that a few places prove nothing.
        return self._lower[word] / (self._inside[word] + 2)

    def is_everyday(self, word: str) -> bool:
        """Return whether this is an everyday word that the text uses as other texts do.

        A text about strokes has "stroke" far more often than general English: then it is a word of
        the subject. One more is expected of each word, so that a few places prove nothing.
        """
        if not is_common_word(word):
            return False
        expected = general_share(word) * self.total
        return self.counts[word] <= _EVERYDAY_FACTOR * (expected + 1)


# ---- the matches, by phrase -----------------------------------------------------------------


@dataclass(slots=True)
class _Place:
    example: Example
    surface: str
    is_short_form: bool  # the text defines it as an abbreviation of the phrase


@dataclass(slots=True)
class _Family:
    """The spellings of a phrase under one type, and their matches."""

    folded: str
    entity_type: str
    texts: dict[str, None] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    places: list[_Place] = field(default_factory=list)

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


def _folded(text: str) -> str:
    """Return the form that the spellings of a phrase share: lower case, words in the singular."""
    return " ".join(map(singular, text.casefold().split()))


def _families(
    labels: DistantLabels, sentences: Sequence[Sentence]
) -> dict[tuple[str, str], _Family]:
    """Return the phrases with a match, by their folded text and type."""
    texts, ids = labels.phrases["phrase"].to_numpy(), labels.phrases["canonical_id"].to_numpy()
    kept = labels.kept
    further: dict[int, list[int]] = {}
    for match, phrase in zip(labels.also["match"], labels.also["phrase"], strict=True):
        further.setdefault(match, []).append(phrase)
    families: dict[tuple[str, str], _Family] = {}
    folded = cache(_folded)  # a phrase and a surface are met as often as they match
    for match, i, start, end, number, phrase in zip(
        kept.index.tolist(),
        *(kept[name].tolist() for name in ("sentence", "start", "end", "type", "phrase")),
        strict=True,
    ):
        key = (folded(texts[phrase]), labels.types[number - 1])
        family = families.get(key)
        if family is None:
            family = families[key] = _Family(*key)
        for row in (phrase, *further.get(match, ())):
            family.texts[texts[row]] = None
            if ids[row]:
                family.ids.add(ids[row])
        surface = sentences[i].surface(start, end)
        same = folded(surface)
        is_short = same != key[0] and same.replace(" ", "") != key[0].replace(" ", "")
        family.places.append(_Place(Example(i, start, end), surface, is_short))
    return families


# ---- the dictionaries -----------------------------------------------------------------------


class _Heads:
    """How many longer phrases end with a word, and which phrases name a class by its use."""

    def __init__(
        self, dictionaries: Sequence[Dictionary], families: Mapping[tuple[str, str], _Family]
    ) -> None:
        names: dict[tuple[str, str], set[str]] = {}
        self._classes: set[tuple[str, str]] = set()
        self._sizes: Counter[str] = Counter()
        self._endings: dict[str, str] = {}
        for dictionary in dictionaries:
            for phrase in active_phrases(dictionary):
                self._sizes[phrase.entity_type] += 1
                start, _, last = phrase.text.rpartition(" ")
                if not start or ", " in phrase.text:
                    continue
                head = (self._ending(last), phrase.entity_type)
                # Names of one thing count once, where the dictionary tells things apart.
                names.setdefault(head, set()).add(phrase.canonical_id or phrase.text.casefold())
                if phrase.canonical_id and head[0] in _USES:
                    key = (_folded(start), phrase.entity_type)
                    if key in families and phrase.canonical_id in families[key].ids:
                        self._classes.add(key)
        self._counts = {head: len(longer) for head, longer in names.items()}

    def count(self, family: _Family) -> int:
        """Return how many longer names end with this word if that makes it generic, else 0.

        An everyday word ("disease") needs less proof than a rare one ("carcinoma"), which may be a
        name by itself however many longer ones there are.
        """
        count = self._counts.get((family.folded, family.entity_type), 0)
        is_usual = count >= _HEAD_SHARE * max(self._sizes[family.entity_type], 1)
        is_many = count >= _HEAD_NAMES
        if is_common_word(family.folded):
            return count if is_many or (is_usual and count >= _FEWEST_HEAD_NAMES) else 0
        return count if is_many and is_usual else 0

    def is_class(self, family: _Family) -> bool:
        """Return whether the dictionary lists "… agents" or the like as another name of it."""
        return (family.folded, family.entity_type) in self._classes

    def _ending(self, word: str) -> str:
        known = self._endings.get(word)
        if known is None:
            known = self._endings[word] = singular(word.casefold())
        return known


# ---- reasons --------------------------------------------------------------------------------


class _Doubt(NamedTuple):
    kind: str
    reason: str
    wrong: list[float]  # for each match, how likely it is wrong


class _Reasons:
    """What speaks against the matches of a phrase."""

    def __init__(
        self,
        dictionaries: Sequence[Dictionary],
        labels: DistantLabels,
        text: _Text,
        families: Mapping[tuple[str, str], _Family],
        doubtful: Sequence[DoubtfulPhrase],
    ) -> None:
        self._text = text
        self._heads = _Heads(dictionaries, families)
        self._capital_types = _capital_types(families.values())
        self._doubtful = {(_folded(d.phrase), d.entity_type): d for d in doubtful}
        self._types = _types_by_phrase(dictionaries, families)
        self._next = _next_counts(families.values())
        self._is_tiny = cache(_is_tiny)  # a surface is met as often as it matches

    def entry(self, family: _Family) -> HealthEntry | None:
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
            tuple(family.places[i].example for i in ranked[:_EXAMPLES]),
        )

    def _doubts(self, family: _Family) -> list[_Doubt]:
        checks = (
            self._stop_word, self._tiny, self._doubt_of_text, self._generic, self._lower_case,
            self._everyday, self._class, self._two_types, self._frequent,
        )  # fmt: skip
        return [doubt for check in checks if (doubt := check(family)) is not None]

    def _stop_word(self, family: _Family) -> _Doubt | None:
        if family.is_acronym or not all(map(is_stop_phrase, family.texts)):
            return None
        return _Doubt("stop word", "It has no meaning by itself.", self._as_word(family))

    def _everyday(self, family: _Family) -> _Doubt | None:
        if not family.is_word or family.is_acronym or not self._text.is_everyday(family.folded):
            return None
        reason = "An everyday word, and this text uses it no more than others do."
        return _Doubt("everyday word", reason, self._as_word(family))

    def _generic(self, family: _Family) -> _Doubt | None:
        count = self._heads.count(family) if family.is_word and not family.is_acronym else 0
        if not count:
            return None
        reason = f"It is the last word of {count:,} longer names, so alone it names none of them."
        return _Doubt("generic word", reason, self._as_word(family))

    def _class(self, family: _Family) -> _Doubt | None:
        if not self._heads.is_class(family):
            return None
        reason = "It names a use that many things have: the dictionary also lists “… agents”."
        return _Doubt("name of a class", reason, self._as_word(family))

    def _tiny(self, family: _Family) -> _Doubt | None:
        wrong = [_SURE * self._is_tiny(place.surface) for place in family.places]
        return _Doubt("letter, number or unit", "So short that it means many things.", wrong)

    def _lower_case(self, family: _Family) -> _Doubt | None:
        if family.entity_type not in self._capital_types or not family.is_capital:
            return None
        wrong = [_SURE * (begins_lower(place.surface) is True) for place in family.places]
        count = sum(map(bool, wrong))
        reason = f"The dictionary has a capital, {count:,} of its matches begin in lower case."
        return _Doubt("lower case", reason, wrong)

    def _doubt_of_text(self, family: _Family) -> _Doubt | None:
        doubt = self._doubtful.get((family.folded, family.entity_type))
        if doubt is None:
            return None
        looks = (
            f"like {doubt.looks_like}" if doubt.looks_like else "no more like it than other text"
        )
        reason = f"Judged by what stands around them, its matches look {looks}."
        return _Doubt("contradicted by the text", reason, [_SURE] * len(family.places))

    def _two_types(self, family: _Family) -> _Doubt | None:
        others = self._types.get(family.folded, set()) - {family.entity_type}
        if not others:
            return None
        reason = f"It is also listed as {', '.join(sorted(others))}: only one can be right here."
        return _Doubt("two types", reason, [_EITHER] * len(family.places))

    def _frequent(self, family: _Family) -> _Doubt | None:
        count, following = len(family.places), self._next[family.entity_type]
        if count < _FEWEST_FREQUENT or count <= _FAR_MORE * following:
            return None
        reason = f"No other phrase of this type has more than {following:,} matches."
        return _Doubt("far more matches", reason, [_EITHER] * count)

    def _as_word(self, family: _Family) -> list[float]:
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


def _proposal(family: _Family, wrong: Sequence[float]) -> str:
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


def _capital_types(families: Iterable[_Family]) -> set[str]:
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
    dictionaries: Sequence[Dictionary], families: Mapping[tuple[str, str], _Family]
) -> dict[str, set[str]]:
    """Return the types of the phrases with a match."""
    texts = {text.casefold(): key[0] for key, family in families.items() for text in family.texts}
    types: dict[str, set[str]] = {}
    for dictionary in dictionaries:
        for phrase in active_phrases(dictionary):
            if (folded := texts.get(phrase.text.casefold())) is not None:
                types.setdefault(folded, set()).add(phrase.entity_type)
    return types


def _next_counts(families: Iterable[_Family]) -> dict[str, int]:
    """Return the second highest number of matches of a phrase, by type."""
    counts: dict[str, list[int]] = {}
    for family in families:
        counts.setdefault(family.entity_type, []).append(len(family.places))
    return {name: sorted([0, *values])[-2] for name, values in counts.items()}


# ---- inverted names -------------------------------------------------------------------------


def natural_order(text: str) -> str:
    """Return an inverted name in natural order; "" for a phrase that is none.

    >>> natural_order("insulin, neutral"), natural_order("N,N-dimethyl"), natural_order("insulin")
    ('neutral insulin', '', '')
    """
    first, comma, last = text.partition(", ")
    words = f"{last} {first}".split()
    is_plain = all(word.replace("-", "").replace("'", "").isalpha() for word in words)
    if not comma or not is_plain or any(is_stop_word(word.casefold()) for word in last.split()):
        return ""
    return " ".join(words)


def _inverted(dictionaries: Sequence[Dictionary], text: _Text) -> HealthEntry | None:
    """Return the names whose natural order the text has and the dictionaries lack."""
    maybe: list[Pair] = []  # the text has all their words
    for dictionary in dictionaries:
        for phrase in active_phrases(dictionary):
            natural = natural_order(phrase.text) if ", " in phrase.text else ""
            if natural and all(word in text.counts for word in natural.casefold().split()):
                maybe.append((natural, phrase.entity_type))
    held = {p.text.casefold() for d in dictionaries for p in d.phrases} if maybe else set()
    wanted: dict[tuple[str, ...], list[Pair]] = {}
    for natural, entity_type in maybe:
        if natural.casefold() not in held:
            words = tuple(natural.casefold().split())
            wanted.setdefault(words, []).append((natural, entity_type))
    examples: list[Example] = []
    pairs: dict[Pair, None] = {}
    count = 0
    beginning: dict[str, list[tuple[str, ...]]] = {}
    for words in wanted:
        beginning.setdefault(words[0], []).append(words)
    for i, sentence in enumerate(text.sentences if wanted else ()):
        tokens = tuple(token.casefold() for token in sentence.tokens)
        for start, token in enumerate(tokens):
            for words in beginning.get(token, ()):
                if tokens[start : start + len(words)] == words:
                    count += 1
                    pairs |= dict.fromkeys(wanted[words])
                    examples.append(Example(i, start, start + len(words)))
    if not pairs:
        return None
    reason = "The dictionary has them inverted, with a comma; the text writes them in this order."
    shown = tuple(examples[:_EXAMPLES])
    return HealthEntry("inverted names", reason, tuple(pairs), count, 0.0, ADD, shown)


def _with_natural_order(dictionary: Dictionary, added: Collection[Pair]) -> Dictionary:
    held = {(phrase.text, phrase.entity_type) for phrase in dictionary.phrases}
    new: dict[Pair, Phrase] = {}
    for phrase in dictionary.phrases if added else ():
        if ", " in phrase.text:
            pair = (natural_order(phrase.text), phrase.entity_type)
            if pair in added and pair not in held:
                new.setdefault(pair, replace(phrase, text=pair[0]))
    return replace(dictionary, phrases=(*dictionary.phrases, *new.values())) if new else dictionary
