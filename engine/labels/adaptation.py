"""Let the text decide how its phrases match: letter case per type, and abbreviations it defines."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.dictionaries import Dictionary, begins_lower
from engine.labels.abbreviations import Definition, find_definitions, find_short_forms
from engine.labels.matching import Matcher
from engine.labels.resolution import KEPT, Choice, Rules
from engine.text import Document, Sentence

FEWEST_EXACT = 20  # matches, below which they decide nothing
LOWER_SHARE = 0.1  # of the exact matches, from which a type ignores case
_LOWER_PHRASES = 0.5  # of a type's phrases, the same where too few match
_FEWEST_PHRASES = 20  # of a type in the text, below which their usual case decides nothing

_Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class CaseDecision:
    """How freely the phrases of a type match in letter case, and why."""

    entity_type: str
    exact: int  # matches in the phrase's own case, away from the first token of a sentence
    lower: int  # those of them that begin in lower case
    is_free: bool  # any letter case matches; else only the phrase's own, and more capitals
    occurring: int = 0  # phrases that the text has, away from the first token of a sentence
    elsewhere: int = 0  # those of them that mostly stand there in another case, fewer capitals

    @property
    def reason(self) -> str:
        """Why, as the end of a sentence."""
        if self.is_free and _are_mostly_elsewhere(self.occurring, self.elsewhere):
            return (
                f"{self.elsewhere:,} of {self.occurring:,} phrases in the text mostly have fewer "
                "capitals there than in the dictionary"
            )
        if self.exact >= FEWEST_EXACT:
            share = f"{100 * self.lower / self.exact:.0f} % of {self.exact:,} exact matches"
            return f"{share} begin in lower case"
        few = f"{self.exact:,} exact {'match is' if self.exact == 1 else 'matches are'} too few"
        return f"{few} to tell" + (", and most phrases begin in lower case" * self.is_free)

    def __str__(self) -> str:
        """Say what was decided and why, in one sentence.

        >>> print(CaseDecision("Chemical", 4193, 3260, is_free=True))
        Chemical: any letter case matches, because 78 % of 4,193 exact matches begin in lower case.
        """
        what = "any letter case matches" if self.is_free else "only more capitals match"
        return f"{self.entity_type}: {what}, because {self.reason}."


@dataclass(frozen=True, slots=True)
class Abbreviation:
    """A short form that a document defines for a phrase."""

    document: str
    short: str
    long: str
    entity_type: str
    dictionary: str  # of the phrase
    matches: int  # places of the short form in the document
    is_muted: bool  # then none of them is labeled


@dataclass(frozen=True, slots=True)
class Adaptation:
    """What the text decided about matching, and what is needed to decide again without matching."""

    cases: tuple[CaseDecision, ...]
    abbreviations: tuple[Abbreviation, ...]
    exact: _Numbers  # (phrases,): exact matches of each, away from the first token of a sentence
    other: _Numbers  # (phrases,): the same for matches in another case, with fewer capitals
    defined_in: _Numbers  # sentences that may define an abbreviation of a phrase in them

    @property
    def folding(self) -> frozenset[str]:
        """The types that ignore letter case."""
        return frozenset(case.entity_type for case in self.cases if case.is_free)


# ---- letter case ----------------------------------------------------------------------------


def decide_case(
    phrases: pd.DataFrame, exact: _Numbers, other: _Numbers
) -> tuple[CaseDecision, ...]:
    """Decide for every type whether its phrases ignore letter case.

    `exact` says how often each phrase stands in the text as it is spelled, away from the first
    token of a sentence, where every word has a capital; -1 if it is not adaptive. `other` says how
    often it stands there with fewer capitals.

    If a tenth of these matches begin in lower case, the type's phrases are words like "aspirin",
    and any letter case is a mere spelling. Else they are names like "Turkey", and "turkey" is
    something else. Below 20 matches the text decides nothing, and only more capitals are accepted:
    a wrong label teaches something wrong, while a missing one leaves a token unlabeled, which the
    methods expect. Only if half of the phrases begin in lower case themselves does the type ignore
    case: whoever wrote them did not mean capitals to matter.

    Some vocabularies capitalize every phrase ("Hypertension" in MeSH), so none of their exact
    matches can begin in lower case. They show by most of their phrases standing in the text with
    fewer capitals. Phrases count, not matches: one "The" among names is everywhere in lower case.
    """
    is_adaptive = exact >= 0
    types, texts = phrases["entity_type"].to_numpy(), phrases["phrase"].to_numpy()
    # Only phrases that the text has are looked at one by one: a vocabulary has far more.
    occurring = set(texts[is_adaptive & (exact + other > 0)])
    is_counted = is_adaptive & phrases["phrase"].isin(occurring).to_numpy(bool)
    # type -> text -> matches, counted once if two dictionaries hold the phrase
    counts: dict[str, dict[str, tuple[int, int]]] = {name: {} for name in set(types[is_adaptive])}
    for text, entity_type, own, others in zip(
        texts[is_counted],
        types[is_counted],
        exact[is_counted].tolist(),
        other[is_counted].tolist(),
        strict=True,
    ):
        counts[entity_type][text] = own, others

    def all_texts(name: str) -> Collection[str]:
        return set(texts[is_adaptive & (types == name)])

    return tuple(_decide(name, counts[name], partial(all_texts, name)) for name in sorted(counts))


def _decide(
    entity_type: str, spelled: dict[str, tuple[int, int]], all_texts: Callable[[], Collection[str]]
) -> CaseDecision:
    occurring = [(own, others) for own, others in spelled.values() if own + others]
    elsewhere = sum(others > own for own, others in occurring)
    counts = {text: own for text, (own, _) in spelled.items()}
    by_exact = _decide_by_exact(entity_type, counts, all_texts)
    if by_exact.is_free or not _are_mostly_elsewhere(len(occurring), elsewhere):
        return by_exact
    return replace(by_exact, is_free=True, occurring=len(occurring), elsewhere=elsewhere)


def _are_mostly_elsewhere(occurring: int, elsewhere: int) -> bool:
    return occurring >= _FEWEST_PHRASES and 2 * elsewhere > occurring


def _decide_by_exact(
    entity_type: str, counts: dict[str, int], all_texts: Callable[[], Collection[str]]
) -> CaseDecision:
    matched = [(count, begins_lower(text)) for text, count in counts.items() if count]
    exact = sum(count for count, is_lower in matched if is_lower is not None)
    lower = sum(count for count, is_lower in matched if is_lower)
    if exact >= FEWEST_EXACT:
        return CaseDecision(entity_type, exact, lower, lower >= LOWER_SHARE * exact)
    begins = [is_lower for is_lower in map(begins_lower, all_texts()) if is_lower is not None]
    is_free = bool(begins) and sum(begins) >= _LOWER_PHRASES * len(begins)
    return CaseDecision(entity_type, exact, lower, is_free)


def count_spelled(
    occurrences: _Numbers, is_adaptive: npt.NDArray[np.bool_], spelling: int
) -> _Numbers:
    """Return how often each phrase stands in this spelling, away from the start of a sentence.

    -1 for a phrase that is not adaptive. `occurrences` has the columns sentence, start, end, phrase
    and spelling.
    """
    counted = occurrences[(occurrences[:, 1] > 0) & (occurrences[:, 4] == spelling), 3]
    counts = np.bincount(counted, minlength=len(is_adaptive)).astype(np.int32)
    return np.where(is_adaptive, counts, np.int32(-1))


# ---- abbreviations --------------------------------------------------------------------------


class DefinedAbbreviations(NamedTuple):
    """The abbreviations of phrases, and where their short forms stand."""

    listed: tuple[Abbreviation, ...]
    rows: _Numbers  # sentence, start, end, phrase
    defined_in: _Numbers  # see `Adaptation`


def find_abbreviations(
    documents: Sequence[Document],
    dictionaries: Sequence[Dictionary],
    matcher: Matcher,
    rules: Rules,
    rows: _Numbers,
) -> DefinedAbbreviations:
    """Return the abbreviations whose long form is a match that counts, given all occurrences.

    The long form must be the match, not end with it: in "acute renal failure (ARF)" the letters
    say that a match "renal failure" is not the whole name. A short form counts in the document that
    defines it, in the same letter case, with its first definition per type. It is muted like a
    phrase, as (short form, type) in a dictionary.
    """
    muted = frozenset().union(*(d.muted for d in dictionaries if d.is_enabled))
    sentences = [sentence for document in documents for sentence in document.sentences]
    defined = _definitions(sentences, rows)
    defined_in = np.fromiter(defined, np.int32, len(defined))
    kept = _kept_phrases(rules.choose(rows[np.isin(rows[:, 0], defined_in)]))
    listed: list[Abbreviation] = []
    more: list[tuple[int, int, int, int]] = []
    first = 0
    for document in documents:
        shorts: dict[tuple[tuple[str, ...], str], tuple[str, tuple[int, ...]]] = {}
        for i, sentence in enumerate(document.sentences, start=first):
            for short, long in defined.get(i, ()):
                ids = tuple(id for id in kept.get((i, *long), ()) if matcher.is_adaptive(id))
                if ids:
                    key = (sentence.tokens[slice(*short)], matcher.phrases[ids[0]].entity_type)
                    shorts.setdefault(key, (_text(sentence, long), ids))
        places = find_short_forms({tokens for tokens, _ in shorts}, document.tokens_by_sentence())
        for (tokens, entity_type), (long_form, ids) in shorts.items():
            here = [(first + i, start, end) for i, start, end in places[tokens]]
            short_form = _text(sentences[here[0][0]], here[0][1:])
            is_muted = (short_form, entity_type) in muted
            name = dictionaries[matcher.dictionary_of[ids[0]]].name
            about = (document.id, short_form, long_form, entity_type, name, len(here), is_muted)
            listed.append(Abbreviation(*about))
            if not is_muted:
                more += [(*place, id) for place in here for id in ids]
        first += len(document.sentences)
    short_forms = np.array(more, np.int32).reshape(-1, 4)
    return DefinedAbbreviations(tuple(listed), short_forms, defined_in)


def _kept_phrases(choice: Choice) -> dict[tuple[int, ...], list[int]]:
    """Return the phrases of each match that counts, by sentence, start and end."""
    further: dict[int, list[int]] = {}
    for match, phrase_id in choice.also.tolist():
        further.setdefault(match, []).append(phrase_id)
    kept = np.flatnonzero(choice.matches[:, 5] == KEPT).tolist()
    return {
        tuple(place): [phrase_id, *further.get(match, ())]
        for match, (*place, _, phrase_id) in zip(
            kept, choice.matches[kept, :5].tolist(), strict=True
        )
    }


def _definitions(sentences: Sequence[Sentence], rows: _Numbers) -> dict[int, list[Definition]]:
    """Return the abbreviations that are defined where a phrase ends, by sentence."""
    has_bracket = np.fromiter(("(" in s.text for s in sentences), bool, len(sentences))
    ends: dict[int, set[int]] = {}  # of phrases, by sentence
    for i, end in rows[has_bracket[rows[:, 0]]][:, [0, 2]].tolist():
        ends.setdefault(i, set()).add(end)
    by_sentence = ((i, find_definitions(sentences[i].tokens, here)) for i, here in ends.items())
    return {i: definitions for i, definitions in by_sentence if definitions}


def _text(sentence: Sentence, place: tuple[int, int]) -> str:
    return " ".join(sentence.surface(*place).split())
