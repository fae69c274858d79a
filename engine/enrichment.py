"""What a method finds becomes candidates for the dictionaries: surfaces that they do not hold."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import pandas as pd

from engine.decisions import Decision
from engine.dictionary import Dictionary, Phrase
from engine.folding import fold, is_acronym
from engine.settings import MatchOptions
from engine.text import Document, Entity
from engine.tokenization import tokenize

NAME = "From review"  # of the dictionary that accepted candidates go to
COLUMNS = (
    "phrase", "entity_type", "count", "documents", "mean_score", "rank", "accepted", "rejected",
    "contexts",
)  # fmt: skip
_CONTEXTS = 3
_CONTEXT_LENGTH = 45  # characters on each side


# ---- what the dictionaries hold -------------------------------------------------------------


class _Folded(NamedTuple):
    phrases: frozenset[str]
    acronyms: frozenset[str]  # with their own letter case


@dataclass(frozen=True, slots=True)
class KnownPhrases:
    """The phrases of some dictionaries in the form in which they are compared."""

    by_options: Mapping[MatchOptions, _Folded]

    def __contains__(self, surface: str) -> bool:
        return any(
            fold_surface(surface, options) in folded.phrases
            or fold_surface(surface, replace(options, ignore_case=False)) in folded.acronyms
            for options, folded in self.by_options.items()
        )


def fold_surface(surface: str, options: MatchOptions) -> str:
    """Return the surface as it is compared: two that come out alike match the same phrases.

    >>> [fold_surface(text, MatchOptions()) for text in ("Beta-Blocker", "beta  - blocker")]
    ['beta - blocker', 'beta - blocker']
    """
    folded = (fold(token, options) for token in tokenize(surface)[0])
    return " ".join(token for token in folded if token)


def known_phrases(dictionaries: Iterable[Dictionary], default: MatchOptions) -> KnownPhrases:
    """Return all phrases of the dictionaries, disabled ones and muted phrases included.

    What a person muted is not missing from the dictionary.
    """
    phrases: defaultdict[MatchOptions, set[str]] = defaultdict(set)
    acronyms: defaultdict[MatchOptions, set[str]] = defaultdict(set)
    for dictionary in dictionaries:
        options = dictionary.match or default
        with_case = replace(options, ignore_case=False)
        for phrase in dictionary.phrases:
            if options.ignore_case and is_acronym(phrase.text, options.exact_acronym_letters):
                acronyms[options].add(fold_surface(phrase.text, with_case))
            else:
                phrases[options].add(fold_surface(phrase.text, options))
    return KnownPhrases(
        {
            options: _Folded(frozenset(phrases[options]), frozenset(acronyms[options]))
            for options in {**phrases, **acronyms}
        }
    )


def mark_known(
    documents: Iterable[Document], entities: Mapping[str, Sequence[Entity]], known: KnownPhrases
) -> dict[str, tuple[Entity, ...]]:
    """Return the entities with `in_dictionary` filled in where it was left open."""
    is_known = cache(known.__contains__)  # a surface comes many times
    return {
        document.id: tuple(
            entity
            if entity.in_dictionary is not None
            else replace(entity, in_dictionary=is_known(document.text[entity.start : entity.end]))
            for entity in entities[document.id]
        )
        for document in documents
        if document.id in entities
    }


# ---- candidates -----------------------------------------------------------------------------


@dataclass(slots=True)
class _Candidate:
    surfaces: Counter[str]
    documents: set[str]
    scores: list[float]
    contexts: list[str]


def dictionary_candidates(
    documents: Iterable[Document],
    entities: Mapping[str, Sequence[Entity]],
    known: KnownPhrases,
    options: MatchOptions,
    *,
    decisions: Iterable[Decision] = (),
) -> pd.DataFrame:
    """Return the surfaces found that are not known, by type, the most and surest first.

    Surfaces that match alike under `options` are one; the most frequent spelling stands for all.
    rank = count * mean_score, where an entity without a score counts as 1. Surfaces that were
    rejected in review more often than accepted are left out, and so is mere punctuation.
    `contexts`: up to three, as lists.
    """
    verdicts = _verdicts(decisions, options)
    candidates: dict[tuple[str, str], _Candidate] = {}
    known_folds: dict[str, str] = {}  # surface -> its fold, "" for what is not to be added
    for document in documents:
        for entity in entities.get(document.id, ()):
            surface = document.text[entity.start : entity.end]
            if surface not in known_folds:
                is_new = any(map(str.isalnum, surface)) and surface not in known
                known_folds[surface] = fold_surface(surface, options) if is_new else ""
            key = (known_folds[surface], entity.entity_type)
            if not key[0] or verdicts[key]["rejected"] > verdicts[key]["accepted"]:
                continue
            _add(candidates.setdefault(key, _Candidate(Counter(), set(), [], [])), document, entity)
    rows = [_row(key[1], of, verdicts[key]) for key, of in candidates.items()]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.sort_values(
        ["rank", "phrase", "entity_type"], ascending=[False, True, True], ignore_index=True
    )


def _add(candidate: _Candidate, document: Document, entity: Entity) -> None:
    candidate.surfaces[" ".join(document.text[entity.start : entity.end].split())] += 1
    candidate.documents.add(document.id)
    candidate.scores.append(1.0 if entity.score is None else entity.score)
    if len(candidate.contexts) < _CONTEXTS:
        around = context(document.text, entity.start, entity.end)
        if around not in candidate.contexts:
            candidate.contexts.append(around)


def context(text: str, start: int, end: int) -> str:
    """Return the stretch with a few words on each side, on one line.

    >>> context("He had gout, and then a fever.", 7, 11)
    'He had gout, and then a fever.'
    """
    first, last = max(0, start - _CONTEXT_LENGTH), min(len(text), end + _CONTEXT_LENGTH)
    before, after = text[first:start], text[end:last]
    if first > 0:
        before = "…" + (before.partition(" ")[2] or before)
    if last < len(text):
        after = (after.rpartition(" ")[0] or after) + "…"
    return " ".join(f"{before}{text[start:end]}{after}".split())


def _row(entity_type: str, candidate: _Candidate, verdicts: Counter[str]) -> tuple[object, ...]:
    mean = sum(candidate.scores) / len(candidate.scores)
    # The most frequent spelling; of equals the first in the alphabet, whatever the text's order.
    phrase = min(candidate.surfaces, key=lambda surface: (-candidate.surfaces[surface], surface))
    return (
        phrase,
        entity_type,
        len(candidate.scores),
        len(candidate.documents),
        mean,
        len(candidate.scores) * mean,
        verdicts["accepted"],
        verdicts["rejected"],
        candidate.contexts,
    )


def _verdicts(
    decisions: Iterable[Decision], options: MatchOptions
) -> defaultdict[tuple[str, str], Counter[str]]:
    """How often each surface was accepted and rejected under each type."""
    verdicts: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for decision in decisions:
        if decision.verdict in ("accepted", "rejected"):
            key = (fold_surface(decision.surface, options), decision.entity_type)
            verdicts[key][decision.verdict] += 1
    return verdicts


def add_phrases(
    dictionaries: Sequence[Dictionary], chosen: Iterable[tuple[str, str]], name: str = NAME
) -> list[Dictionary]:
    """Return the dictionaries with these (phrase, type) pairs in one of their own, called `name`.

    The dictionaries that a person brought stay as they are. A pair that any of them holds already
    is not added again.
    """
    held = {(p.text, p.entity_type) for dictionary in dictionaries for p in dictionary.phrases}
    new = [pair for pair in dict.fromkeys(chosen) if pair not in held]
    added = tuple(Phrase(text, entity_type) for text, entity_type in new)
    if not added:
        return list(dictionaries)
    result = [
        replace(dictionary, phrases=(*dictionary.phrases, *added))
        if dictionary.name == name
        else dictionary
        for dictionary in dictionaries
    ]
    if not any(dictionary.name == name for dictionary in dictionaries):
        result.append(Dictionary(name, added))
    return result
