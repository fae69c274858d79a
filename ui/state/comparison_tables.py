"""The tables of the Compare page, each computed once per comparison.

A table is computed when its tab is first opened, and cached by the comparison.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from engine.projects import Project
from engine.review import judgements
from engine.scoring import (
    Filter,
    Pool,
    Scored,
    agreement_matrix,
    calibration_error,
    changed_entities,
    choose,
    combinations,
    confusion,
    entity_counts,
    found_alone,
    judged_precision,
    matching_sentences,
    reliability,
    score_histogram,
    score_pool,
    score_table,
    seen_places,
    seen_recall,
    types_at,
    within,
)
from ui.state import corpus, findings, labels
from ui.state.comparison import Comparison, Key
from ui.state.figures import ready

_KEPT = 4


def methods_only(comparison: Comparison) -> Pool:
    """Return the pool without gold."""
    return _methods_only(comparison.key, comparison)


def scored(project: Project, comparison: Comparison) -> Scored:
    """Return the counts against gold, with their resamples."""
    return _scored(comparison.key, project, comparison)


def scores(project: Project, comparison: Comparison) -> pd.DataFrame:
    """Return precision, recall and F1 of each set and type, with intervals."""
    return _scores(comparison.key, project, comparison)


def seen(project: Project, comparison: Comparison) -> pd.DataFrame:
    """Return recall on gold entities that the dictionaries list, and on the others."""
    return _seen((*comparison.key, project.labels_key()), project, comparison)


def judged(project: Project, comparison: Comparison) -> pd.DataFrame:
    """Return the precision of each set on the entities that people have judged."""
    taken = findings.decisions(project)
    last = max((decision.id for decision in taken), default=0)
    return _judged((*comparison.key, len(taken), last), project, comparison)


def counts(comparison: Comparison) -> pd.DataFrame:
    """Return the number of entities of each set by type ("" for all), and their mean score."""
    return _counts(comparison.key, comparison)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Which sets find the same entities, and what only one of them finds."""

    matrix: pd.DataFrame  # with gold
    alone: pd.DataFrame
    combinations: pd.DataFrame


def agreement(comparison: Comparison) -> Agreement:
    """Return how far the sets agree."""
    return _agreement(comparison.key, comparison)


def confused(comparison: Comparison, rows: str, columns: str) -> pd.DataFrame:
    """Return the types of one set by the types that another set gives the same entities."""
    return _confused((*comparison.key, rows, columns), comparison, rows, columns)


@dataclass(frozen=True, slots=True)
class Certainty:
    """The scores of entities: their histogram and, with gold, the share of correct ones."""

    histogram: pd.DataFrame
    reliability: pd.DataFrame | None
    errors: dict[str, float]  # mean distance between score and precision, by set


def certainty(comparison: Comparison) -> Certainty:
    """Return the scores of the sets and, with gold, how reliable they are."""
    return _certainty(comparison.key, comparison)


def drawn(comparison: Comparison, what: Key, make: Callable[[], Any]) -> Any:
    """Return a chart of the comparison, made once, because making it takes longest.

    `what` names the chart and everything else that it depends on.
    """
    return kept(comparison, what, lambda: ready(make()))


def kept(comparison: Comparison, what: Key, make: Callable[[], Any]) -> Any:
    """Return something about the comparison, made once; `what` is as for `drawn`."""
    return _made((*comparison.key, *what), make)


# ---- sentences ------------------------------------------------------------------------------


def sentences_like(
    project: Project, comparison: Comparison, wanted: Filter, words: str
) -> Sequence[int]:
    """Return the numbers of the sentences that match the filter and contain the words."""
    numbers = _matching((*comparison.key, wanted), comparison, wanted)
    if not words:
        return numbers
    texts, folded = corpus.sentences(project), words.casefold()
    return [i for i in numbers if folded in texts[i].text.casefold()]


def changed(comparison: Comparison, before: str, after: str) -> pd.DataFrame:
    """Return the entities that two sets do not share, with their gold type if there is gold."""
    return _changed((*comparison.key, before, after), comparison, (before, after))


def with_words(project: Project, changes: pd.DataFrame) -> pd.DataFrame:
    """Add the words and the sentence to rows of `changed`.

    Sentences are long, so this is only for the rows on the page and for the download.
    """
    texts = corpus.sentences(project)
    sentences = [texts[i] for i in changes["sentence"].tolist()]
    places = zip(sentences, changes["start"].tolist(), changes["end"].tolist(), strict=True)
    return changes.assign(
        text=[s.text[start - s.start : end - s.start] for s, start, end in places],
        score=changes["score_after"].fillna(changes["score_before"]),
        context=[sentence.text for sentence in sentences],
    )


# ---- the caches -----------------------------------------------------------------------------
# Streamlit leaves parameters that begin with an underscore out of the cache key.


@st.cache_resource(max_entries=2 * _KEPT, show_spinner=False)
def _methods_only(key: Key, _comparison: Comparison) -> Pool:
    return choose(_comparison.pool, _comparison.names)


@st.cache_resource(max_entries=2 * _KEPT, show_spinner="Comparing with gold")
def _scored(key: Key, _project: Project, _comparison: Comparison) -> Scored:
    assert _comparison.gold is not None
    sizes = [len(document.sentences) for document in corpus.read_corpus(_project).documents]
    bounds = np.cumsum([0, *sizes])
    return score_pool(
        _comparison.pool, _comparison.gold, _comparison.annotated, sentences_by_document=bounds
    )


@st.cache_resource(max_entries=2 * _KEPT, show_spinner=False)
def _scores(key: Key, _project: Project, _comparison: Comparison) -> pd.DataFrame:
    return score_table(scored(_project, _comparison))


@st.cache_resource(max_entries=_KEPT, show_spinner="Looking up gold in the dictionaries")
def _seen(key: Key, _project: Project, _comparison: Comparison) -> pd.DataFrame:
    assert _comparison.gold is not None
    places = seen_places(
        _comparison.pool,
        _comparison.gold,
        corpus.read_corpus(_project).documents,
        labels.labels(_project),
    )
    return seen_recall(_comparison.pool, _comparison.gold, places)


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _judged(key: Key, _project: Project, _comparison: Comparison) -> pd.DataFrame:
    return judged_precision(methods_only(_comparison), judgements(findings.decisions(_project)))


@st.cache_resource(max_entries=2 * _KEPT, show_spinner=False)
def _agreement(key: Key, _comparison: Comparison) -> Agreement:
    methods_pool = methods_only(_comparison)
    return Agreement(
        agreement_matrix(_comparison.pool), found_alone(methods_pool), combinations(methods_pool)
    )


@st.cache_resource(max_entries=2 * _KEPT, show_spinner=False)
def _confused(key: Key, _comparison: Comparison, _rows: str, _columns: str) -> pd.DataFrame:
    return confusion(_comparison.pool, _rows, _columns)


@st.cache_resource(max_entries=2 * _KEPT, show_spinner=False)
def _certainty(key: Key, _comparison: Comparison) -> Certainty:
    if _comparison.gold is None:
        return Certainty(score_histogram(_comparison.pool), None, {})
    pool = within(_comparison.pool, _comparison.annotated)
    table = reliability(pool, _comparison.gold)
    return Certainty(score_histogram(pool, _comparison.gold), table, calibration_error(table))


@st.cache_resource(max_entries=2 * _KEPT, show_spinner=False)
def _counts(key: Key, _comparison: Comparison) -> pd.DataFrame:
    return entity_counts(_comparison.pool)


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _changed(key: Key, _comparison: Comparison, _two: tuple[str, str]) -> pd.DataFrame:
    table = changed_entities(_comparison.pool, *_two)
    if _comparison.gold is not None:
        table["gold"] = types_at(_comparison.pool, _comparison.gold, table)
    return table


@st.cache_resource(max_entries=8 * _KEPT, show_spinner=False)
def _made(key: Key, _make: Callable[[], Any]) -> Any:
    return _make()


@st.cache_resource(max_entries=4 * _KEPT, show_spinner=False)
def _matching(key: Key, _comparison: Comparison, _wanted: Filter) -> list[int]:
    return matching_sentences(_comparison.pool, _wanted).tolist()
