"""What the Compare page compares: sets of entities, chosen by run and method, in one pool.

Results are cached by what they depend on: the text, the chosen runs, the labels and the gold. A
click that changes none of these computes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from engine.export import summary_card
from engine.formats import Aligned
from engine.jobs import Job
from engine.planning import METHODS
from engine.projects import Project
from engine.scoring import Marks, Pool, on_tokens, pool_entities
from engine.text import EntitiesByDocument
from ui.charts.palette import METHOD_COLORS
from ui.charts.style import BARS
from ui.parts import wording
from ui.state import corpus, findings

Key = tuple[object, ...]
GOLD, DICTIONARY = "gold", "dictionary"
OPINION = "opinion/"  # begins the key of an opinion; its name follows
MOST_SETS = 8
_KEPT = 4
_RUN = "run"  # in the address: the run that a link from another page asks for


# ---- what can be compared -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ComparedSet:
    """A set of entities to compare: gold, dictionary matches, or what a method of a run found."""

    key: str  # "gold", "dictionary", "opinion/<name>" or "<job id>/<method>"
    method: str
    name: str  # short, and unique among the chosen sets
    job: Job | None = None


def runs_key(project: Project, runs: Sequence[Job]) -> str:
    """Return the key of the run picker; it changes with a new run, so that this one is chosen."""
    return f"compare_runs_{project.id}_{runs[0].id if runs else ''}_{_asked()}"


def default_runs(runs: Sequence[Job]) -> list[str]:
    """Return the run to compare at first: the one in the address, or else the latest."""
    ids = [job.id for job in runs]
    return [_asked()] if _asked() in ids else ids[:1]


def _asked() -> str:
    return st.query_params.get(_RUN, "")


def methods(
    runs: Sequence[Job], *, has_gold: bool, has_dictionary: bool, opinions: Sequence[str] = ()
) -> list[str]:
    """Return the methods to compare, in the order of the paper's table: the simplest first.

    Opinions of others, given by name, come after the dictionaries.
    """
    finished = {method for job in runs for method in findings.methods_of(job)}
    order = [*reversed(findings.TRUST)]
    trained = sorted(finished, key=lambda m: (order.index(m) if m in order else len(order), m))
    others = [f"{OPINION}{name}" for name in opinions]
    first = [*([GOLD] if has_gold else []), *([DICTIONARY] if has_dictionary else [])]
    return [*first, *others, *trained]


def shown_name(method: str) -> str:
    """Return a method or an opinion as people see it."""
    return method.removeprefix(OPINION) if method.startswith(OPINION) else _method_name(method)


def choices(runs: Sequence[Job], wanted: Sequence[str]) -> list[ComparedSet]:
    """Return the sets of these methods in these runs, without gold, and at most MOST_SETS."""
    return named(every_choice(runs, wanted)[:MOST_SETS])


def every_choice(runs: Sequence[Job], wanted: Sequence[str]) -> list[ComparedSet]:
    """Return all sets of these methods in these runs; names may occur more than once."""
    sets = []
    if DICTIONARY in wanted:
        sets.append(ComparedSet(DICTIONARY, DICTIONARY, _method_name(DICTIONARY)))
    others = [method for method in wanted if method.startswith(OPINION)]
    sets += [ComparedSet(key, key, shown_name(key)) for key in others]
    for job in runs:
        done = findings.methods_of(job)
        sets += [
            ComparedSet(f"{job.id}/{method}", method, _method_name(method), job)
            for method in wanted
            if method in done
        ]
    return sets


def named(chosen: Sequence[ComparedSet]) -> list[ComparedSet]:
    """Return the sets with unique names: with several runs, a method's name has its run's number.

    Numbers are short enough for the name of a lane; `run_numbers` tells which run they stand for.
    """
    numbers = run_numbers(chosen)
    if len(numbers) < 2:
        return list(chosen)
    return [
        replace(choice, name=f"{choice.name} · {numbers[choice.job.id]}") if choice.job else choice
        for choice in chosen
    ]


def run_numbers(chosen: Sequence[ComparedSet]) -> dict[str, int]:
    """Return a number for each run of these sets, from 1, by the run's id."""
    ids = dict.fromkeys(choice.job.id for choice in chosen if choice.job)
    return {id: i for i, id in enumerate(ids, start=1)}


def _method_name(method: str) -> str:
    return wording.method_name(method)


# ---- the comparison -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Comparison:
    """Sets of entities on the same text; their names are those of the pool's columns."""

    key: Key
    chosen: tuple[ComparedSet, ...]  # without gold
    pool: Pool  # gold first, if there is any
    gold: str | None  # its name in the pool
    annotated: frozenset[str]  # documents that have gold
    colors: dict[str, str]  # by name

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(choice.name for choice in self.chosen)

    @property
    def trained(self) -> tuple[str, ...]:
        return tuple(choice.name for choice in self.chosen if choice.job is not None)

    @property
    def references(self) -> frozenset[str]:
        """The sets that learned from the gold they are scored with: not rivals of the others."""
        return frozenset(
            choice.name
            for choice in self.chosen
            if choice.method in METHODS and METHODS[choice.method].needs_gold
        )

    @property
    def voices(self) -> tuple[str, ...]:
        """The sets whose differences count as disagreement.

        With several trained methods, only theirs: a missing phrase is not an opinion.
        """
        return self.trained if len(self.trained) > 1 else self.names


def compare(project: Project, chosen: Sequence[ComparedSet], gold: Aligned | None) -> Comparison:
    """Return the comparison of the chosen sets, with gold if there is any."""
    key = (
        project.id,
        project.text_key(),
        project.gold_key() if gold else "",
        gold is not None,
        project.labels_key() if any(choice.key == DICTIONARY for choice in chosen) else "",
        project.opinions_key() if any(c.key.startswith(OPINION) for c in chosen) else "",
        *((c.key, c.name, c.job.attempt if c.job else 0) for c in chosen),
    )
    return _compare(key, project, tuple(chosen), gold)


def card(project: Project, sets: Sequence[ComparedSet], what: str) -> dict[str, Any]:
    """Return what made a file about these sets: the methods of runs among them, and the gold."""
    runs = [(choice.job, choice.method) for choice in sets if choice.job is not None]
    names = [choice.name for choice in sets]
    return summary_card(project, what, runs, sets=names, gold=project.gold_key() or None)


# ---- the caches -----------------------------------------------------------------------------
# Streamlit leaves parameters that begin with an underscore out of the cache key.


@st.cache_resource(max_entries=2 * _KEPT, show_spinner="Comparing the runs")
def _compare(
    key: Key, _project: Project, _chosen: tuple[ComparedSet, ...], _gold: Aligned | None
) -> Comparison:
    documents = corpus.read_corpus(_project).documents
    name = _method_name(GOLD)
    sets: dict[str, EntitiesByDocument | Marks] = {}
    if _gold is not None:
        sets[name] = on_tokens(documents, _gold.entities)
    for choice in _chosen:
        sets[choice.name] = _marks_of(_project, choice)
    colors = {c.name: METHOD_COLORS.get(c.method, BARS) for c in _chosen}
    return Comparison(
        key,
        _chosen,
        pool_entities(documents, sets),
        name if _gold is not None else None,
        frozenset(_gold.entities) if _gold is not None else frozenset(),
        {name: METHOD_COLORS[GOLD], **colors},
    )


def _marks_of(project: Project, choice: ComparedSet) -> Marks | EntitiesByDocument:
    if choice.key.startswith(OPINION):
        return findings.opinion(project, choice.name)
    if choice.job is None:
        return findings.matched_marks(project)
    return findings.marks(project, choice.job, choice.method)
