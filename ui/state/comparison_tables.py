"""The tables of the page Compare: all that follows from what is compared, each made once.

A table is made when its tab is first looked at, and kept by the comparison that it came from.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from engine.agreement import (
    Filter,
    agreement_matrix,
    changed_entities,
    combinations,
    confusion,
    entity_counts,
    found_alone,
    matching_sentences,
    types_at,
)
from engine.bootstrap import Scored, score_pool, score_table
from engine.calibration import calibration_error, reliability, score_histogram
from engine.decisions import judgements
from engine.jobs import Job
from engine.judged import judged_precision
from engine.pool import Pool, choose, within
from engine.project import Project
from engine.seen import seen_places, seen_recall
from ui.state import corpus, findings, labels, review
from ui.state.comparison import Comparison, Key

_KEPT = 4


def methods_only(found: Comparison) -> Pool:
    """Return the pool without gold."""
    return _methods_only(found.key, found)


def scored(project: Project, found: Comparison) -> Scored:
    """Return the counts against gold, and their resamples."""
    return _scored(found.key, project, found)


def scores(project: Project, found: Comparison) -> pd.DataFrame:
    """Return precision, recall and F1 of each set and type, with intervals."""
    return _scores(found.key, project, found)


def seen(project: Project, found: Comparison) -> pd.DataFrame:
    """Return recall on gold entities that the dictionaries hold, and on others."""
    return _seen((*found.key, project.labels_key()), project, found)


def judged(project: Project, found: Comparison) -> pd.DataFrame:
    """Return the precision of what people have judged, of each set."""
    taken = findings.decisions(project)
    last = max((decision.id for decision in taken), default=0)
    return _judged((*found.key, len(taken), last), project, found)


def counts(found: Comparison) -> pd.DataFrame:
    """Return how many entities each set has, of each type ("" for all), and their mean score."""
    return _counts(found.key, found)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Who finds the same, and who finds what no other does."""

    matrix: pd.DataFrame  # with gold
    alone: pd.DataFrame
    combinations: pd.DataFrame


def agreement(found: Comparison) -> Agreement:
    """Return how far the sets agree."""
    return _agreement(found.key, found)


def confused(found: Comparison, rows: str, columns: str) -> pd.DataFrame:
    """Return what became of the types of one set in another."""
    return _confused((*found.key, rows, columns), found, rows, columns)


@dataclass(frozen=True, slots=True)
class Certainty:
    """The scores of entities: their histogram and, with gold, how many of each score are right."""

    histogram: pd.DataFrame
    reliability: pd.DataFrame | None
    errors: dict[str, float]  # mean distance of score and precision, by set


def certainty(found: Comparison) -> Certainty:
    """Return how sure the sets are, and whether they may be; with gold, where there is gold."""
    return _certainty(found.key, found)


def drawn(found: Comparison, what: Key, make: Callable[[], Any]) -> Any:
    """Return a figure about the comparison, made once: making takes longer than all else here.

    `what` names the figure and all that it shows besides.
    """
    return _drawn((*found.key, *what), make)


# ---- sentences ------------------------------------------------------------------------------


def sentences_like(
    project: Project, found: Comparison, wanted: Filter, words: str
) -> Sequence[int]:
    """Return the numbers of the sentences that the filter lets through and that have the words."""
    numbers = _matching((*found.key, wanted), found, wanted)
    if not words:
        return numbers
    texts, folded = corpus.sentences(project), words.casefold()
    return [i for i in numbers if folded in texts[i].text.casefold()]


def changed(found: Comparison, before: str, after: str) -> pd.DataFrame:
    """Return the entities that two sets do not share, with their gold type where gold is there."""
    return _changed((*found.key, before, after), found, (before, after))


def with_words(project: Project, changes: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `changed` with their words and sentence.

    Sentences are long: this is for the rows that are shown, or for the one download of all.
    """
    texts = corpus.sentences(project)
    sentences = [texts[i] for i in changes["sentence"].tolist()]
    places = zip(sentences, changes["start"].tolist(), changes["end"].tolist(), strict=True)
    return changes.assign(
        text=[s.text[start - s.start : end - s.start] for s, start, end in places],
        score=changes["score_after"].fillna(changes["score_before"]),
        context=[sentence.text for sentence in sentences],
    )


def send_to_review(project: Project, job: Job) -> None:
    """Choose the queue of what this run's methods disagree on, for the page Review."""
    review.remember(project, run=job.id, order="disagreement")


# ---- the caches -----------------------------------------------------------------------------
# Streamlit leaves out of the cache key what begins with an underscore.


@st.cache_resource(max_entries=2 * _KEPT, show_spinner=False)
def _methods_only(key: Key, _found: Comparison) -> Pool:
    return choose(_found.pool, _found.names)


@st.cache_resource(max_entries=2 * _KEPT, show_spinner="Comparing with gold")
def _scored(key: Key, _project: Project, _found: Comparison) -> Scored:
    assert _found.gold is not None
    sizes = [len(document.sentences) for document in corpus.read_corpus(_project).documents]
    bounds = np.cumsum([0, *sizes])
    return score_pool(_found.pool, _found.gold, _found.annotated, sentences_by_document=bounds)


@st.cache_resource(max_entries=2 * _KEPT, show_spinner=False)
def _scores(key: Key, _project: Project, _found: Comparison) -> pd.DataFrame:
    return score_table(scored(_project, _found))


@st.cache_resource(max_entries=_KEPT, show_spinner="Looking up gold in the dictionaries")
def _seen(key: Key, _project: Project, _found: Comparison) -> pd.DataFrame:
    assert _found.gold is not None
    places = seen_places(
        _found.pool,
        _found.gold,
        corpus.read_corpus(_project).documents,
        labels.labels(_project),
    )
    return seen_recall(_found.pool, _found.gold, places)


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _judged(key: Key, _project: Project, _found: Comparison) -> pd.DataFrame:
    return judged_precision(methods_only(_found), judgements(findings.decisions(_project)))


@st.cache_resource(max_entries=2 * _KEPT, show_spinner=False)
def _agreement(key: Key, _found: Comparison) -> Agreement:
    methods_pool = methods_only(_found)
    return Agreement(
        agreement_matrix(_found.pool), found_alone(methods_pool), combinations(methods_pool)
    )


@st.cache_resource(max_entries=2 * _KEPT, show_spinner=False)
def _confused(key: Key, _found: Comparison, _rows: str, _columns: str) -> pd.DataFrame:
    return confusion(_found.pool, _rows, _columns)


@st.cache_resource(max_entries=2 * _KEPT, show_spinner=False)
def _certainty(key: Key, _found: Comparison) -> Certainty:
    if _found.gold is None:
        return Certainty(score_histogram(_found.pool), None, {})
    pool = within(_found.pool, _found.annotated)
    table = reliability(pool, _found.gold)
    return Certainty(score_histogram(pool, _found.gold), table, calibration_error(table))


@st.cache_resource(max_entries=2 * _KEPT, show_spinner=False)
def _counts(key: Key, _found: Comparison) -> pd.DataFrame:
    return entity_counts(_found.pool)


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _changed(key: Key, _found: Comparison, _two: tuple[str, str]) -> pd.DataFrame:
    table = changed_entities(_found.pool, *_two)
    if _found.gold is not None:
        table["gold"] = types_at(_found.pool, _found.gold, table)
    return table


@st.cache_resource(max_entries=8 * _KEPT, show_spinner=False)
def _drawn(key: Key, _make: Callable[[], Any]) -> Any:
    return _make()


@st.cache_resource(max_entries=4 * _KEPT, show_spinner=False)
def _matching(key: Key, _found: Comparison, _wanted: Filter) -> list[int]:
    return matching_sentences(_found.pool, _wanted).tolist()
