"""Choose the entities of an export and build them, for the command line and the app alike.

sets = EntitySets(project, project.corpus())
job = default_run(runs_with_entities(project))
choice = ExportChoice(RUN, job.id, default_method(project, job))
chosen = choose_entities(sets, choice, job)        # unfiltered; chosen.lost: their text is gone
filtered = filter_entities(sets, choice, chosen)   # the corpus to write
"""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from engine import jobs
from engine.export.selection import Selection, select
from engine.formats import WriteOptions
from engine.jobs import Job, hidden_found, scores_of
from engine.labels import dictionary_entities
from engine.planning import METHODS
from engine.projects import Project, labels_of
from engine.review import KnownPhrases, known_phrases, mark_known, reviewed_entities
from engine.run_folder import PREDICTIONS, read_entities
from engine.scoring import best_of
from engine.settings import MATCH_PRESETS
from engine.settings import METHODS as COMPARED
from engine.text import Corpus, Document, EntitiesByDocument, InputError

RUN, REVIEWED, DICTIONARY, GOLD = "run", "reviewed", "dictionary", "gold"
EXPORTED = "exported"  # a choice that the project remembers: whether an export was ever made
METHOD_ORDER = COMPARED[::-1]  # the most trusted first
_ALL, _PLAIN = Selection(), WriteOptions()


@dataclass(frozen=True, slots=True)
class ExportChoice:
    """Which entities to export, and as which file."""

    what: str  # RUN, REVIEWED, DICTIONARY or GOLD
    run: str = ""  # job id; for RUN, and for REVIEWED if there is a run
    method: str = ""
    selection: Selection = _ALL
    format: str = "entities"
    options: WriteOptions = _PLAIN


@dataclass(frozen=True, slots=True)
class ChosenEntities:
    """A set of entities before filtering, and how many were left out because their text is gone."""

    entities: EntitiesByDocument
    lost: int = 0

    @property
    def types(self) -> list[str]:
        return sorted({e.entity_type for entities in self.entities.values() for e in entities})

    @property
    def note(self) -> str:
        """One line about what was left out; "" if nothing was."""
        if not self.lost:
            return ""
        one = self.lost == 1
        return (
            f"{self.lost:,} {'entity' if one else 'entities'} left out: "
            f"{'its' if one else 'their'} text is no longer in the project"
        )


@dataclass(frozen=True)
class EntitySets:
    """The sets of entities of a project, read from its files. The app overrides what it caches."""

    project: Project
    corpus: Corpus  # all text of the project

    def gold(self) -> EntitiesByDocument | None:
        """Return what people annotated; None without gold."""
        aligned = self.project.gold(self.corpus)
        return aligned.entities if aligned else None

    def matched(self) -> EntitiesByDocument:
        """Return what the dictionaries match."""
        project, documents = self.project, self.corpus.documents
        labels = labels_of(project, documents=lambda: self.corpus.documents)
        return dictionary_entities(labels, documents)

    def predicted(self, job: Job, method: str) -> EntitiesByDocument:
        """Return what a method of a run found."""
        return read_entities(jobs.run_folder(job, method) / PREDICTIONS)

    def known(self) -> KnownPhrases:
        """Return the phrases that the dictionaries hold."""
        project, dictionaries = self.project, self.project.dictionaries()
        options = MATCH_PRESETS[project.match_preset()]
        folding: frozenset[str] = frozenset()
        if any((dictionary.match or options).is_adaptive for dictionary in dictionaries):
            folding = labels_of(project, documents=lambda: self.corpus.documents).folding
        return known_phrases(dictionaries, options, folding)


# ---- what a project offers ------------------------------------------------------------------


def offered(
    *, has_run: bool, has_decisions: bool, has_dictionary: bool, has_gold: bool
) -> list[str]:
    """Return the kinds of sets that there are, the most finished first."""
    there = {RUN: has_run, REVIEWED: has_decisions, DICTIONARY: has_dictionary, GOLD: has_gold}
    return [what for what, is_there in there.items() if is_there]


def runs_with_entities(project: Project) -> list[Job]:
    """Return the training jobs of which at least one method has been applied, newest first."""
    return [job for job in jobs.list_jobs(project, "train") if methods_with_entities(job)]


def methods_with_entities(job: Job) -> list[str]:
    """Return the methods of a training job that have been applied, the most trusted first."""
    done = [m for m in job.request["methods"] if (jobs.run_folder(job, m) / PREDICTIONS).exists()]
    return sorted(done, key=by_trust)


def default_run(runs: Sequence[Job]) -> Job | None:
    """Return the latest run that is done, else the latest one; None without runs."""
    return next((job for job in runs if job.state == "done"), runs[0] if runs else None)


def default_method(project: Project, job: Job) -> str:
    """Return the method of a run with the highest F1; without gold, the most trusted one.

    Without gold, a method that surely finds more of the hidden phrases is preferred to it.

    F1 is the one that the run recorded when it was applied: gold that was added later does not
    count. Methods without F1 come last; among equals, METHOD_ORDER decides. A method that learned
    from the gold is scored on what it learned from, so it is chosen only if there is no other.
    """
    scores = scores_of(project, job.id)

    def f1(method: str) -> float:
        return scores.get(method, {}).get("overall", {}).get("f1") or 0.0

    def rank(method: str) -> tuple[bool, float, int, str]:
        return (METHODS[method].needs_gold, -f1(method), *by_trust(method))

    methods = methods_with_entities(job)
    found = hidden_found(project, job.id)
    compared = {method: found[method] for method in methods if method in found}
    if compared and not any(map(f1, methods)):
        return best_of(compared)
    return min(methods, key=rank)


def by_trust(method: str) -> tuple[int, str]:
    """Return a sort key that puts the most trusted method first."""
    place = METHOD_ORDER.index(method) if method in METHOD_ORDER else len(METHOD_ORDER)
    return (place, method)


# ---- building it ----------------------------------------------------------------------------


def choose_entities(sets: EntitySets, choice: ExportChoice, job: Job | None) -> ChosenEntities:
    """Return the chosen set, unfiltered. `job` is the run of the choice, if it has one.

    Entities that lie in text which was removed since the run are left out and counted.
    """
    if choice.what == GOLD:
        gold = sets.gold()
        if gold is None:
            raise InputError(
                "this project has no gold. Add some on the page Text, or with: "
                f"glossa import --project {sets.project.id} --gold FILE"
            )
        return ChosenEntities(gold)
    if choice.what == DICTIONARY:
        return ChosenEntities(sets.matched())
    documents = sets.corpus.documents
    predicted = ChosenEntities({})
    if job is not None:
        predicted = _still_there(sets.predicted(job, choice.method), documents)
    if choice.what == RUN:
        return predicted
    review = sets.project.review_effect(documents)
    matched = sets.matched() if sets.project.dictionary_version() else {}
    merged = reviewed_entities(review, predicted.entities, matched)
    return replace(predicted, entities=merged)


def _still_there(entities: EntitiesByDocument, documents: Iterable[Document]) -> ChosenEntities:
    lengths = {document.id: len(document.text) for document in documents}
    kept = {
        id: tuple(entity for entity in given if entity.end <= lengths[id])
        for id, given in entities.items()
        if id in lengths
    }
    lost = sum(map(len, entities.values())) - sum(map(len, kept.values()))
    return ChosenEntities(kept, lost) if lost else ChosenEntities(entities)


def filter_entities(sets: EntitySets, choice: ExportChoice, chosen: ChosenEntities) -> Corpus:
    """Return the documents and entities that pass the filters of the choice."""
    return select(
        sets.corpus.documents,
        chosen.entities,
        choice.selection,
        only_annotated=choice.what == GOLD,
    )


def with_known(sets: EntitySets, choice: ExportChoice, corpus: Corpus) -> Corpus:
    """Return the corpus with `in_dictionary` filled in where a method or a person left it open."""
    is_open = any(e.in_dictionary is None for given in corpus.entities.values() for e in given)
    if choice.what not in (RUN, REVIEWED) or not is_open:
        return corpus
    return replace(corpus, entities=mark_known(corpus.documents, corpus.entities, sets.known()))


def count_entities(corpus: Corpus) -> int:
    """Return how many entities a corpus holds."""
    return sum(map(len, corpus.entities.values()))


def note_export(project: Project) -> None:
    """Remember that entities were exported; an export is not lost because this fails."""
    with suppress(InputError, sqlite3.Error):
        if not project.choice(EXPORTED):
            project.set_choice(EXPORTED, True)
