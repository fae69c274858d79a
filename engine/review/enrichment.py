"""Find phrases that a method found and the dictionaries lack, and add them to a dictionary."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import or_
from typing import NamedTuple

import pandas as pd

from engine.dictionaries import OTHER_CASE, Dictionary, Phrase, fold, is_acronym, spelling
from engine.review.decisions import Decision
from engine.settings import MatchOptions
from engine.text import Document, Entity, words

NAME = "From review"  # the dictionary that accepted candidates go to
COLUMNS = (
    "phrase", "entity_type", "count", "documents", "mean_score", "rank", "accepted", "rejected",
    "contexts",
)  # fmt: skip
_MARK = "\0"  # always a token of its own, and part of no phrase
_CONTEXTS = 3
_CONTEXT_LENGTH = 45  # characters on each side


# ---- what the dictionaries hold -------------------------------------------------------------


class _Folded(NamedTuple):
    phrases: frozenset[str]
    acronyms: frozenset[str]  # with their own letter case
    careful: Mapping[str, frozenset[str]]  # folded -> as spelled; these match with more capitals


@dataclass(frozen=True, slots=True)
class KnownPhrases:
    """The phrases of some dictionaries, folded for comparison."""

    by_options: Mapping[MatchOptions, _Folded]

    def __contains__(self, surface: str) -> bool:
        return self.hold([surface])[0]

    def hold(self, surfaces: Sequence[str]) -> list[bool]:
        """Return, per surface, whether it is known."""
        are_known = [False] * len(surfaces)
        for options, folded in self.by_options.items():
            with_case = replace(options, ignore_case=False)
            for forms, folding in ((folded.phrases, options), (folded.acronyms, with_case)):
                if forms:
                    are_held = map(forms.__contains__, fold_surfaces(surfaces, folding))
                    are_known = list(map(or_, are_known, are_held))
            if folded.careful:
                pairs = zip(
                    fold_surfaces(surfaces, options),
                    fold_surfaces(surfaces, with_case),
                    strict=True,
                )
                are_raised = [
                    any(spelling(form, cased) != OTHER_CASE for form in folded.careful.get(key, ()))
                    for key, cased in pairs
                ]
                are_known = list(map(or_, are_known, are_raised))
        return are_known


def fold_surface(surface: str, options: MatchOptions) -> str:
    """Return the surface folded for comparison: equal results match the same phrases.

    >>> [fold_surface(text, MatchOptions()) for text in ("Beta-Blocker", "beta  - blocker")]
    ['beta - blocker', 'beta - blocker']
    """
    folded = (fold(token, options) for token in words(surface))
    return " ".join(token for token in folded if token)


def fold_surfaces(surfaces: Sequence[str], options: MatchOptions) -> list[str]:
    """Return `fold_surface` of each surface, three times as fast for a hundred thousand."""
    if any(_MARK in surface for surface in surfaces):
        return [fold_surface(surface, options) for surface in surfaces]
    tokens = words("\n".join((_MARK, *(f"{surface}\n{_MARK}" for surface in surfaces))))
    forms = {token: fold(token, options) for token in set(tokens)}
    joined = " ".join(form for token in tokens if (form := forms[token]))
    # Each surface stands between two marks, with a space on either side.
    return [part[1:-1] for part in joined.split(_MARK)[1:-1]]


def known_phrases(
    dictionaries: Iterable[Dictionary], default: MatchOptions, folding: Collection[str] = ()
) -> KnownPhrases:
    """Return all phrases of the dictionaries, including disabled dictionaries and muted phrases.

    A phrase that a person muted is not missing from the dictionary. `folding` is what adaptive
    options decided: the types that ignore letter case.
    """
    phrases: defaultdict[MatchOptions, set[str]] = defaultdict(set)
    acronyms: defaultdict[MatchOptions, set[str]] = defaultdict(set)
    careful: defaultdict[MatchOptions, defaultdict[str, set[str]]] = defaultdict(
        lambda: defaultdict(set)
    )
    for dictionary in dictionaries:
        options = dictionary.match or default
        with_case = replace(options, ignore_case=False)
        texts = {phrase.text for phrase in dictionary.phrases}
        exact = {
            text
            for text in texts
            if options.ignore_case and is_acronym(text, options.exact_acronym_letters)
        }
        free = texts - exact
        if options.is_adaptive:
            held = dictionary.phrases
            free &= {phrase.text for phrase in held if phrase.entity_type in folding}
            rest = list(texts - exact - free)
            for key, form in zip(
                fold_surfaces(rest, options), fold_surfaces(rest, with_case), strict=True
            ):
                careful[options][key].add(form)
        acronyms[options].update(fold_surfaces(list(exact), with_case))
        phrases[options].update(fold_surfaces(list(free), options))
    return KnownPhrases(
        {
            options: _Folded(
                frozenset(phrases[options]),
                frozenset(acronyms[options]),
                {key: frozenset(forms) for key, forms in careful[options].items()},
            )
            for options in {**phrases, **acronyms}
        }
    )


def mark_known(
    documents: Iterable[Document], entities: Mapping[str, Sequence[Entity]], known: KnownPhrases
) -> dict[str, tuple[Entity, ...]]:
    """Return the entities with `in_dictionary` filled in where it is None."""
    here = [document for document in documents if document.id in entities]
    surfaces = {
        document.text[entity.start : entity.end]
        for document in here
        for entity in entities[document.id]
        if entity.in_dictionary is None
    }
    is_known = dict(zip(surfaces, known.hold(list(surfaces)), strict=True))
    return {
        document.id: tuple(
            entity
            if entity.in_dictionary is not None
            else replace(entity, in_dictionary=is_known[document.text[entity.start : entity.end]])
            for entity in entities[document.id]
        )
        for document in here
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
    """Return the unknown phrases that were found, one row per phrase and type, best rank first.

    Spellings that match alike under `options` are one phrase, shown in the most frequent spelling.
    rank = count * mean_score, where an entity without a score counts as 1. Phrases rejected in
    review more often than accepted are left out, as is mere punctuation. `contexts` is a list of up
    to three.
    """
    verdicts = _verdicts(decisions, options)
    candidates: dict[tuple[str, str], _Candidate] = {}
    places = [(d, e, d.text[e.start : e.end]) for d in documents for e in entities.get(d.id, ())]
    folds = _new_folds({surface for _, _, surface in places}, known, options)
    for document, entity, surface in places:
        key = (folds.get(surface, ""), entity.entity_type)
        if not key[0] or verdicts[key]["rejected"] > verdicts[key]["accepted"]:
            continue
        _add(candidates.setdefault(key, _Candidate(Counter(), set(), [], [])), document, entity)
    rows = [_row(key[1], candidate, verdicts[key]) for key, candidate in candidates.items()]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.sort_values(
        ["rank", "phrase", "entity_type"], ascending=[False, True, True], ignore_index=True
    )


def _new_folds(
    surfaces: Iterable[str], known: KnownPhrases, options: MatchOptions
) -> dict[str, str]:
    """Return the folded form of each surface that is neither known nor mere punctuation."""
    spelled = [surface for surface in surfaces if any(map(str.isalnum, surface))]
    new = [
        surface
        for surface, is_known in zip(spelled, known.hold(spelled), strict=True)
        if not is_known
    ]
    return dict(zip(new, fold_surfaces(new, options), strict=True))


def _add(candidate: _Candidate, document: Document, entity: Entity) -> None:
    candidate.surfaces[" ".join(document.text[entity.start : entity.end].split())] += 1
    candidate.documents.add(document.id)
    candidate.scores.append(1.0 if entity.score is None else entity.score)
    if len(candidate.contexts) < _CONTEXTS:
        around = context(document.text, entity.start, entity.end)
        if around not in candidate.contexts:
            candidate.contexts.append(around)


def context(text: str, start: int, end: int) -> str:
    """Return the span with a few words on each side, on one line.

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
    # The most frequent spelling; ties go to the alphabet, not to the order of the text.
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
    """Count how often each surface was accepted and rejected under each type."""
    verdicts: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for decision in decisions:
        if decision.verdict in ("accepted", "rejected"):
            key = (fold_surface(decision.surface, options), decision.entity_type)
            verdicts[key][decision.verdict] += 1
    return verdicts


def add_phrases(
    dictionaries: Sequence[Dictionary], chosen: Iterable[tuple[str, str]], name: str = NAME
) -> list[Dictionary]:
    """Return the dictionaries with these (phrase, type) pairs added to the one called `name`.

    The other dictionaries stay as they are. A pair that any of them already holds is not added.
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
