"""What runs, dictionaries and people found in a project's text, kept by content.

Cached as resources, shared by all visitors and never copied; no view changes them in place.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress

import streamlit as st

from engine import jobs
from engine.export import METHOD_ORDER, methods_with_entities, runs_with_entities
from engine.jobs import Job
from engine.labels import dictionary_entities
from engine.projects import Opinion, Project
from engine.review import Decision, KnownPhrases, known_phrases
from engine.run_folder import PREDICTIONS, read_entities, read_marks
from engine.scoring import Marks, marks_of_labels, on_tokens
from engine.settings import MATCH_PRESETS, MatchOptions
from engine.text import Document, EntitiesByDocument, InputError
from ui.state import corpus, labels

TRUST = METHOD_ORDER
_KEPT = 4


# ---- runs -----------------------------------------------------------------------------------


def runs(project: Project) -> list[Job]:
    """Return the training jobs that have found something, newest first."""
    return runs_with_entities(project)


def methods_of(job: Job) -> list[str]:
    """Return the methods of a run whose entities are there, the most trusted first."""
    return methods_with_entities(job)


def run_names(runs: Sequence[Job]) -> dict[str, str]:
    """Return a name per run, by id: when it was started, and its preset."""
    return told_apart(
        {job.id: f"{job.created_at:%-d %b %Y, %H:%M} ({job.request['preset']})" for job in runs}
    )


def told_apart(names: Mapping[str, str]) -> dict[str, str]:
    """Return the names by id; names that occur twice get the end of their id.

    Streamlit tells options apart by their labels only.
    """
    counts = Counter(names.values())
    return {id: f"{name} {id[-4:]}" if counts[name] > 1 else name for id, name in names.items()}


def is_outdated(project: Project, job: Job) -> bool:
    """Return whether text, dictionaries or matching changed since the run."""
    return job.labels_key != project.labels_key()


# ---- sets of entities -----------------------------------------------------------------------


def matched(project: Project) -> EntitiesByDocument:
    """Return what the dictionaries match."""
    return _matched((project.id, project.labels_key()), project)


def found(project: Project, job: Job, method: str) -> EntitiesByDocument:
    """Return what a method of a run found."""
    return _found((project.id, job.id, job.attempt, method), job)


def by_method(project: Project, job: Job | None) -> dict[str, EntitiesByDocument]:
    """Return the sets of a run, the most trusted method first, the dictionaries last."""
    sets: dict[str, EntitiesByDocument] = {}
    if job is not None:
        sets = {method: found(project, job, method) for method in methods_of(job)}
    if project.dictionary_version():
        sets["dictionary"] = matched(project)
    return sets


def marks(project: Project, job: Job, method: str) -> Marks:
    """Return what a method of a run found, as columns; reading takes a tenth of the time."""
    return _marks((project.id, job.id, job.attempt, method), job)


def matched_marks(project: Project) -> Marks:
    """Return what the dictionaries match, as columns."""
    return _matched_marks((project.id, project.labels_key()), project)


def marks_by_method(project: Project, job: Job | None) -> dict[str, Marks]:
    """Return the sets of a run as columns, the most trusted method first, the dictionaries last."""
    sets: dict[str, Marks] = {}
    if job is not None:
        sets = {method: marks(project, job, method) for method in methods_of(job)}
    if project.dictionary_version():
        sets["dictionary"] = matched_marks(project)
    return sets


def opinions(project: Project) -> tuple[Opinion, ...]:
    """Return the opinions of other systems and people."""
    key = project.opinions_key()
    return _opinions((project.id, key), project) if key else ()


def opinion(project: Project, name: str) -> EntitiesByDocument:
    """Return what an opinion holds, on whole tokens."""
    return _opinion((project.id, project.text_key(), project.opinions_key(), name), project)


def opinions_by_name(project: Project) -> dict[str, EntitiesByDocument]:
    """Return what each opinion holds; none if they cannot be read, which Compare says."""
    with suppress(InputError):
        return {held.name: opinion(project, held.name) for held in opinions(project)}
    return {}


def decisions(project: Project) -> list[Decision]:
    """Return all decisions in force: checks of matches, and the review."""
    return [*project.decisions("check"), *project.decisions("review")]


# ---- text and dictionaries ------------------------------------------------------------------


def documents(project: Project) -> Mapping[str, Document]:
    """Return the documents by id."""
    return _documents((project.id, project.text_key()), project)


def match_options(project: Project) -> MatchOptions:
    """Return the options of the project's match preset."""
    return MATCH_PRESETS[project.match_preset()]


def known(project: Project) -> KnownPhrases:
    """Return the phrases that the dictionaries hold."""
    return _known((project.id, project.labels_key()), project)


# ---- caches ---------------------------------------------------------------------------------
# Streamlit leaves arguments that begin with an underscore out of the cache key.


@st.cache_resource(max_entries=2 * _KEPT, show_spinner="Reading what the run found")
def _found(key: tuple[object, ...], _job: Job) -> EntitiesByDocument:
    return read_entities(jobs.run_folder(_job, str(key[-1])) / PREDICTIONS)


@st.cache_resource(max_entries=_KEPT, show_spinner="Matching the dictionaries")
def _matched(key: tuple[object, ...], _project: Project) -> EntitiesByDocument:
    texts = corpus.read_corpus(_project).documents
    return dictionary_entities(labels.labels(_project), texts)


@st.cache_resource(max_entries=4 * _KEPT, show_spinner="Reading what the run found")
def _marks(key: tuple[object, ...], _job: Job) -> Marks:
    return read_marks(jobs.run_folder(_job, str(key[-1])) / PREDICTIONS)


@st.cache_resource(max_entries=_KEPT, show_spinner="Matching the dictionaries")
def _matched_marks(key: tuple[object, ...], _project: Project) -> Marks:
    return marks_of_labels(labels.labels(_project), corpus.sentences(_project))


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _opinions(key: tuple[object, ...], _project: Project) -> tuple[Opinion, ...]:
    return tuple(_project.opinions())


@st.cache_resource(max_entries=2 * _KEPT, show_spinner="Reading the opinion")
def _opinion(key: tuple[object, ...], _project: Project) -> EntitiesByDocument:
    texts = corpus.read_corpus(_project).documents
    return on_tokens(texts, _project.opinion_entities(str(key[-1]), texts))


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _documents(key: tuple[object, ...], _project: Project) -> Mapping[str, Document]:
    return {document.id: document for document in corpus.read_corpus(_project).documents}


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _known(key: tuple[object, ...], _project: Project) -> KnownPhrases:
    held, options = labels.dictionaries(_project), match_options(_project)
    is_adaptive = any((dictionary.match or options).is_adaptive for dictionary in held)
    folding = labels.labels(_project).folding if is_adaptive else ()
    return known_phrases(held, options, folding)
