"""Add the figures of all shards up into one report, which equals that of the whole corpus."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.dictionaries import NEVER, Dictionary, active_phrases, active_types, never_lists
from engine.labels import (
    Abbreviation,
    CaseDecision,
    Coverage,
    DistantLabels,
    SpellingCounts,
    added_labels,
    conflicts,
    coverage_by_dictionary,
    coverage_by_type,
    is_indexed,
    measure_coverage,
)
from engine.settings import MatchOptions
from engine.text import Corpus

_SUMS = ("matches", "only_here", "tokens", "sentences")  # columns of coverage that add up
_CONFLICT = ("winner", "winner_type", "loser", "loser_type", "rule")
_ADDED = ("text", "entity_type", "phrase", "reason")
_SHOWN = 10  # abbreviations that are kept per shard


# ---- counting spellings ---------------------------------------------------------------------


def count_figures(counts: SpellingCounts) -> dict[str, Any]:
    """Return the counts of one shard; only of phrases that it has."""
    return {name: _sparse(getattr(counts, name)) for name in SpellingCounts._fields}


def _sparse(counts: np.ndarray) -> list[list[int]]:
    places = np.flatnonzero(counts > 0)
    return [places.tolist(), counts[places].tolist()]


def added_counts(
    figures: Iterable[Mapping[str, Any]], dictionaries: Sequence[Dictionary], match: MatchOptions
) -> SpellingCounts:
    """Return the counts over all shards."""
    is_adaptive = np.array(
        [
            (dictionary.match or match).is_adaptive and is_indexed(dictionary, phrase)
            for dictionary in dictionaries
            for phrase in active_phrases(dictionary)
        ],
        bool,
    )
    sums = {name: np.where(is_adaptive, 0, -1) for name in SpellingCounts._fields}
    for of_shard in figures:
        for name, (places, counts) in of_shard.items():
            sums[name][places] += np.array(counts, np.int64)
    return SpellingCounts(**{name: counts.astype(np.int32) for name, counts in sums.items()})


# ---- labels ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LabelReport:
    """How much of the corpus is labeled; the tables are those of `engine.labels`."""

    documents: int
    coverage: Coverage
    by_type: pd.DataFrame
    by_dictionary: pd.DataFrame
    conflicts: pd.DataFrame  # winner, winner_type, loser, loser_type, rule, times
    cases: tuple[CaseDecision, ...] | None  # None if no option is adaptive
    added: pd.DataFrame  # text, entity_type, phrase, reason, matches
    abbreviations: int
    first_abbreviations: tuple[Abbreviation, ...]
    never: Coverage | None  # of the phrases that are never an entity; None without any
    notes: tuple[str, ...] = ()  # patterns that took too long, one line each


def label_figures(labels: DistantLabels, corpus: Corpus) -> dict[str, Any]:
    """Return the figures of one shard, to be added to those of the others."""
    sentences = list(corpus.sentences)
    lost = conflicts(labels, sentences)
    adaptation = labels.adaptation
    used_short = [a for a in adaptation.abbreviations if not a.is_muted] if adaptation else []
    return {
        "documents": len(corpus.documents),
        **_covered(labels),
        "never": _covered(labels.never) if labels.never is not None else None,
        "by_type": _rows(coverage_by_type(labels)),
        "by_dictionary": _rows(coverage_by_dictionary(labels)),
        "conflicts": _counted(lost.groupby(list(_CONFLICT), sort=False).size()),
        "added": added_labels(labels, sentences)[[*_ADDED, "matches"]].values.tolist(),
        "abbreviations": len(used_short),
        "first_abbreviations": [asdict(short) for short in used_short[:_SHOWN]],
    }


def _covered(labels: DistantLabels) -> dict[str, Any]:
    """Return the headline figures, and the numbers of the phrases that match."""
    kept = labels.kept
    further = labels.also.loc[labels.also["match"].isin(kept.index), "phrase"]
    used = np.union1d(kept["phrase"].to_numpy(), further.to_numpy())
    return {"coverage": asdict(measure_coverage(labels)), "used": used.tolist()}


def _rows(table: pd.DataFrame) -> dict[str, list[int]]:
    return {row[0]: list(row[1:]) for row in table[[table.columns[0], *_SUMS]].values.tolist()}


def _counted(sizes: pd.Series) -> list[list[Any]]:
    return [[*key, int(count)] for key, count in sizes.items()]  # type: ignore[misc]


def label_report(
    figures: Sequence[Mapping[str, Any]],
    dictionaries: Sequence[Dictionary],
    cases: tuple[CaseDecision, ...] | None,
    notes: Sequence[str] = (),
) -> LabelReport:
    """Return the report on all shards, given their figures in the order of the corpus."""
    phrases = [(p.entity_type, d.name) for d in dictionaries for p in active_phrases(d)]
    coverage, is_used = _added_coverage(figures, len(phrases))
    lost: Counter[tuple[str, ...]] = Counter()
    added: Counter[tuple[str, ...]] = Counter()
    for of_shard in figures:
        lost.update({tuple(row[:-1]): row[-1] for row in of_shard["conflicts"]})
        added.update({tuple(row[:-1]): row[-1] for row in of_shard["added"]})
    short = [Abbreviation(**row) for part in figures for row in part["first_abbreviations"]]
    names = list(dict.fromkeys(d.name for d in dictionaries if set(d.types) != {NEVER}))
    never = sum(len(found.phrases) for found in never_lists(dictionaries))
    types, sources = ([pair[i] for pair in phrases] for i in (0, 1))
    tables = [
        _coverage(
            name, groups, of_phrase, is_used, (part[key] for part in figures), coverage.tokens
        )
        for key, name, groups, of_phrase in (
            ("by_type", "entity_type", active_types(dictionaries), types),
            ("by_dictionary", "dictionary", names, sources),
        )
    ]
    return LabelReport(
        documents=sum(part["documents"] for part in figures),
        coverage=coverage,
        by_type=tables[0],
        by_dictionary=tables[1],
        conflicts=_conflict_table(lost),
        cases=cases,
        added=_added_table(added),
        abbreviations=sum(part["abbreviations"] for part in figures),
        first_abbreviations=tuple(short[:_SHOWN]),
        never=_added_coverage([part["never"] for part in figures], never)[0] if never else None,
        notes=tuple(notes),
    )


def _added_coverage(
    figures: Iterable[Mapping[str, Any]], phrases: int
) -> tuple[Coverage, npt.NDArray[np.bool_]]:
    """Return the headline figures of all shards, and which phrases match in any of them."""
    is_used = np.zeros(phrases, bool)
    totals: Counter[str] = Counter()
    for part in figures:
        is_used[part["used"]] = True
        totals.update(part["coverage"])
    totals["phrases"], totals["used_phrases"] = phrases, int(is_used.sum())
    return Coverage(**{field.name: totals[field.name] for field in fields(Coverage)}), is_used


def _coverage(
    name: str,
    groups: Sequence[str],
    of_phrase: Sequence[str],
    is_used: np.ndarray,
    parts: Iterable[Mapping[str, Sequence[int]]],
    tokens: int,
) -> pd.DataFrame:
    sums = {group: np.zeros(len(_SUMS), np.int64) for group in groups}
    for part in parts:
        for group, values in part.items():
            sums[group] += values
    phrases = Counter(of_phrase)
    used = Counter(group for group, one in zip(of_phrase, is_used.tolist(), strict=True) if one)
    rows = [(group, phrases[group], used[group], *sums[group].tolist()) for group in groups]
    table = pd.DataFrame(rows, columns=[name, "phrases", "phrases_used", *_SUMS])
    table["token_share"] = table["tokens"] / max(tokens, 1)
    return table


def _conflict_table(lost: Mapping[tuple[str, ...], int]) -> pd.DataFrame:
    table = pd.DataFrame([(*k, n) for k, n in lost.items()], columns=[*_CONFLICT, "times"])
    return table.sort_values("times", ascending=False, kind="stable", ignore_index=True)


def _added_table(added: Mapping[tuple[str, ...], int]) -> pd.DataFrame:
    table = pd.DataFrame([(*k, n) for k, n in added.items()], columns=[*_ADDED, "matches"])
    return table.sort_values(
        ["matches", "text", "entity_type"], ascending=[False, True, True], ignore_index=True
    )


# ---- predictions ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PredictReport:
    """What a run found in the corpus."""

    documents: int
    sentences: int
    tokens: int
    entities: int
    rows: int
    by_type: pd.DataFrame  # entity_type, entities, documents


def prediction_figures(corpus: Corpus) -> dict[str, Any]:
    """Return the figures of one shard, to be added to those of the others."""
    entities: Counter[str] = Counter()
    documents: Counter[str] = Counter()
    for found in corpus.entities.values():
        entities.update(entity.entity_type for entity in found)
        documents.update({entity.entity_type for entity in found})
    return {
        "documents": len(corpus.documents),
        "sentences": sum(len(document.sentences) for document in corpus.documents),
        "tokens": sum(document.token_count for document in corpus.documents),
        "entities": dict(entities),
        "documents_with": dict(documents),
    }


def predict_report(figures: Sequence[Mapping[str, Any]]) -> PredictReport:
    """Return the report on all shards."""
    entities: Counter[str] = Counter()
    documents: Counter[str] = Counter()
    for part in figures:
        entities.update(part["entities"])
        documents.update(part["documents_with"])
    rows = [(name, entities[name], documents[name]) for name in sorted(entities)]
    return PredictReport(
        documents=sum(part["documents"] for part in figures),
        sentences=sum(part["sentences"] for part in figures),
        tokens=sum(part["tokens"] for part in figures),
        entities=sum(entities.values()),
        rows=sum(part["rows"] for part in figures),
        by_type=pd.DataFrame(rows, columns=["entity_type", "entities", "documents"]),
    )
