"""What is compared on the page Compare: sets of entities, their pool, and the tables about it.

Everything is kept by what it came from: the text, the runs chosen, the labels and the gold. A
click that changes none of these computes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import streamlit as st

from engine.agreement import (
    Filter,
    changed_entities,
    entity_counts,
    matching_sentences,
    types_at,
)
from engine.alignment import Aligned
from engine.bootstrap import Scored, score_pool, score_table
from engine.decisions import judgements
from engine.jobs import Job
from engine.judged import judged_precision
from engine.pool import EntitiesByDocument, Pool, choose, on_tokens, pool_entities
from engine.project import Project
from engine.seen import seen_places, seen_recall
from ui import parts
from ui.chart_style import BARS
from ui.palette import METHOD_COLORS
from ui.state import corpus, findings, labels, review

GOLD, DICTIONARY = "gold", "dictionary"
MOST_SETS = 8
_KEPT = 4
_RUN = "run"  # in the address: the run that a link from another page wants to see


# ---- what can be compared -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Choice:
    """A set of entities: the gold, the dictionaries' or what one method of a run found."""

    key: str  # "gold", "dictionary" or "<job id>/<method>"
    method: str
    name: str  # short, and among the chosen ones unique
    job: Job | None = None


def runs_key(project: Project, runs: Sequence[Job]) -> str:
    """Return the key of the widget that chooses runs; after a new run it begins with that one."""
    return f"compare_runs_{project.id}_{runs[0].id if runs else ''}_{_asked()}"


def default_runs(runs: Sequence[Job]) -> list[str]:
    """Return the run that is compared at first: the one that the address asks for, or the last."""
    ids = [job.id for job in runs]
    return [_asked()] if _asked() in ids else ids[:1]


def _asked() -> str:
    return st.query_params.get(_RUN, "")


def methods(runs: Sequence[Job], *, has_gold: bool, has_dictionary: bool) -> list[str]:
    """Return what can be set side by side, in the order of the paper's table: plainest first."""
    found = {method for job in runs for method in findings.methods_of(job)}
    order = [*reversed(findings.TRUST)]
    trained = sorted(found, key=lambda m: (order.index(m) if m in order else len(order), m))
    return [*([GOLD] if has_gold else []), *([DICTIONARY] if has_dictionary else []), *trained]


def choices(runs: Sequence[Job], wanted: Sequence[str]) -> list[Choice]:
    """Return the sets of these methods in these runs, gold left out, at most MOST_SETS of them."""
    return named(every_choice(runs, wanted)[:MOST_SETS])


def every_choice(runs: Sequence[Job], wanted: Sequence[str]) -> list[Choice]:
    """Return all sets of these methods in these runs, whose names may be the same."""
    found = []
    if DICTIONARY in wanted:
        found.append(Choice(DICTIONARY, DICTIONARY, _method_name(DICTIONARY)))
    for job in runs:
        done = findings.methods_of(job)
        found += [
            Choice(f"{job.id}/{method}", method, _method_name(method), job)
            for method in wanted
            if method in done
        ]
    return found


def named(chosen: Sequence[Choice]) -> list[Choice]:
    """Return the choices with names that differ: with several runs, a method has its run's number.

    Numbers are short enough for the beginning of a lane; `run_numbers` says what they stand for.
    """
    numbers = run_numbers(chosen)
    if len(numbers) < 2:
        return list(chosen)
    return [
        replace(choice, name=f"{choice.name} · {numbers[choice.job.id]}") if choice.job else choice
        for choice in chosen
    ]


def run_numbers(chosen: Sequence[Choice]) -> dict[str, int]:
    """Return the number of each run among the choices, from 1, by its id."""
    ids = dict.fromkeys(choice.job.id for choice in chosen if choice.job)
    return {id: i for i, id in enumerate(ids, start=1)}


def _method_name(method: str) -> str:
    return parts.METHOD_NAMES.get(method, method)


# ---- the comparison -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Comparison:
    """Sets of entities over one text; names are those of the pool's columns."""

    key: tuple[object, ...]
    chosen: tuple[Choice, ...]  # without gold
    pool: Pool  # gold first, where there is some
    gold: str | None  # its name in the pool
    annotated: frozenset[str]  # documents that gold says something about
    colors: dict[str, str]  # by name

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(choice.name for choice in self.chosen)

    @property
    def trained(self) -> tuple[str, ...]:
        return tuple(choice.name for choice in self.chosen if choice.job is not None)

    @property
    def voices(self) -> tuple[str, ...]:
        """Whose differences count: the dictionaries' silence is no opinion, if others speak."""
        return self.trained if len(self.trained) > 1 else self.names


def compare(project: Project, chosen: Sequence[Choice], gold: Aligned | None) -> Comparison:
    """Return the comparison of the chosen sets, with gold where there is some."""
    key = (
        project.id,
        project.text_key(),
        project.gold_key() if gold else "",
        gold is not None,
        project.labels_key() if any(choice.key == DICTIONARY for choice in chosen) else "",
        *((c.key, c.name, c.job.attempt if c.job else 0) for c in chosen),
    )
    return _compare(key, project, tuple(chosen), gold)


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


def changed(project: Project, found: Comparison, before: str, after: str) -> pd.DataFrame:
    """Return the entities that two sets do not share, with their words, sentence and gold type."""
    return _changed((*found.key, before, after), project, found, (before, after))


def send_to_review(project: Project, job: Job) -> None:
    """Choose the queue of what this run's methods disagree on, for the page Review."""
    review.remember(project, run=job.id, order="disagreement")


# ---- the caches -----------------------------------------------------------------------------
# Streamlit leaves out of the cache key what begins with an underscore.

_Key = tuple[object, ...]


@st.cache_resource(max_entries=2 * _KEPT, show_spinner="Putting the runs side by side")
def _compare(
    key: _Key, _project: Project, _chosen: tuple[Choice, ...], _gold: Aligned | None
) -> Comparison:
    documents = corpus.read_corpus(_project).documents
    name = _method_name(GOLD)
    sets: dict[str, EntitiesByDocument] = {}
    if _gold is not None:
        sets[name] = on_tokens(documents, _gold.entities)
    for choice in _chosen:
        if choice.job is None:
            sets[choice.name] = findings.matched(_project)
        else:
            sets[choice.name] = findings.results(_project, choice.job).entities[choice.method]
    colors = {c.name: METHOD_COLORS.get(c.method, BARS) for c in _chosen}
    return Comparison(
        key,
        _chosen,
        pool_entities(documents, sets),
        name if _gold is not None else None,
        frozenset(_gold.entities) if _gold is not None else frozenset(),
        {name: METHOD_COLORS[GOLD], **colors},
    )


@st.cache_resource(max_entries=2 * _KEPT, show_spinner=False)
def _methods_only(key: _Key, _found: Comparison) -> Pool:
    return choose(_found.pool, _found.names)


@st.cache_resource(max_entries=2 * _KEPT, show_spinner="Comparing with gold")
def _scored(key: _Key, _project: Project, _found: Comparison) -> Scored:
    assert _found.gold is not None
    sizes = [len(document.sentences) for document in corpus.read_corpus(_project).documents]
    bounds = np.cumsum([0, *sizes])
    return score_pool(_found.pool, _found.gold, _found.annotated, sentences_by_document=bounds)


@st.cache_resource(max_entries=2 * _KEPT, show_spinner=False)
def _scores(key: _Key, _project: Project, _found: Comparison) -> pd.DataFrame:
    return score_table(scored(_project, _found))


@st.cache_resource(max_entries=_KEPT, show_spinner="Looking up gold in the dictionaries")
def _seen(key: _Key, _project: Project, _found: Comparison) -> pd.DataFrame:
    assert _found.gold is not None
    places = seen_places(
        _found.pool,
        _found.gold,
        corpus.read_corpus(_project).documents,
        labels.dictionaries(_project),
        _project.match_preset(),
    )
    return seen_recall(_found.pool, _found.gold, places)


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _judged(key: _Key, _project: Project, _found: Comparison) -> pd.DataFrame:
    return judged_precision(methods_only(_found), judgements(findings.decisions(_project)))


@st.cache_resource(max_entries=2 * _KEPT, show_spinner=False)
def _counts(key: _Key, _found: Comparison) -> pd.DataFrame:
    return entity_counts(_found.pool)


@st.cache_resource(max_entries=_KEPT, show_spinner="Looking for what changed")
def _changed(
    key: _Key, _project: Project, _found: Comparison, _two: tuple[str, str]
) -> pd.DataFrame:
    table = changed_entities(_found.pool, *_two)
    sentences = [corpus.sentences(_project)[i] for i in table["sentence"]]
    places = zip(sentences, table["start"].tolist(), table["end"].tolist(), strict=True)
    table["text"] = [s.text[start - s.start : end - s.start] for s, start, end in places]
    table["score"] = table["score_after"].fillna(table["score_before"])
    table["context"] = [sentence.text for sentence in sentences]
    if _found.gold is not None:
        table["gold"] = types_at(_found.pool, _found.gold, table)
    return table


@st.cache_resource(max_entries=4 * _KEPT, show_spinner=False)
def _matching(key: _Key, _found: Comparison, _wanted: Filter) -> list[int]:
    return matching_sentences(_found.pool, _wanted).tolist()
