"""Likely names that the dictionaries lack, as the last search found them; cached by content."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from engine import jobs
from engine.jobs import Job, SuggestRequest
from engine.labels import (
    LikelyName,
    LikelyTokens,
    likely_histogram,
    likely_names,
    words_near_cut,
)
from engine.projects import KeptLikely, Project, kept_likely, likely_basis, likely_file_key
from engine.review import fold_surface, missing_names, ranked_by_likeness
from engine.text import EntitiesByDocument, Entity
from ui.state import corpus, findings, labels

_KEPT = 2
_SENT = "likely_review"  # the names that were sent to review: [phrase, type], …
_WIDTH = 4  # the histogram has this many times the tokens that the priors call likely
Pairs = list[tuple[str, str]]


# ---- the search -----------------------------------------------------------------------------


def search(project: Project) -> Job:
    """Start the search for likely names."""
    return jobs.start(project, SuggestRequest())


def active_search(project: Project) -> Job | None:
    """Return the search that is going on."""
    return next((job for job in jobs.list_jobs(project, "suggest") if job.is_active), None)


def failed_search(project: Project) -> Job | None:
    """Return the last search if it failed."""
    last = next(iter(jobs.list_jobs(project, "suggest")), None)
    return last if last is not None and last.state in ("failed", "interrupted") else None


def kept(project: Project) -> KeptLikely | None:
    """Return what the last search found in the text as it is now."""
    return _kept(_key(project), project)


def is_fresh(project: Project, result: KeptLikely) -> bool:
    """Return whether dictionaries, matching and decisions are those of the search."""
    return result.basis == likely_basis(project)


# ---- names ----------------------------------------------------------------------------------


def table(project: Project) -> pd.DataFrame:
    """Return the likely names that today's dictionaries lack, the likest to matches first."""
    taken = findings.decisions(project)
    key = (*_key(project), project.labels_key(), len(taken), max((d.id for d in taken), default=0))
    return _table(key, project)


def sent(project: Project) -> Pairs:
    """Return the names that were sent to review."""
    return [(str(phrase), str(name)) for phrase, name in project.choice(_SENT, [])]


def send(project: Project, pairs: Pairs) -> None:
    """Add names to those that the review asks about."""
    project.set_choice(_SENT, list(dict.fromkeys([*sent(project), *pairs])))


def sent_entities(project: Project) -> EntitiesByDocument:
    """Return all places of the names that were sent to review."""
    pairs = tuple(sent(project))
    if not pairs or kept(project) is None:
        return {}
    return _sent_entities((*_key(project), project.match_preset(), pairs), project)


def sent_key(project: Project) -> tuple[object, ...]:
    """Return what `sent_entities` depends on."""
    return (likely_file_key(project), tuple(sent(project)))


# ---- the cut --------------------------------------------------------------------------------


def histogram(project: Project) -> pd.DataFrame:
    """Return how many of the likeliest tokens have each confidence, by type."""
    return _histogram(_key(project), project)


def near_cut(project: Project, count: int) -> tuple[list[str], list[str]]:
    """Return words just above and just below the cut."""
    return words_near_cut(corpus.sentences(project), _ranked(_key(project), project), count)


def cut_confidence(project: Project, count: int) -> float | None:
    """Return the confidence of the last of the `count` likeliest tokens; None without any."""
    ranked = _ranked(_key(project), project)
    if not count or not len(ranked):
        return None
    return float(_tokens(project).confidence[ranked[min(count, len(ranked)) - 1]])


# ---- caches ---------------------------------------------------------------------------------
# Streamlit leaves arguments that begin with an underscore out of the cache key.


def _key(project: Project) -> tuple[object, ...]:
    return (project.id, project.text_key(), likely_file_key(project))


def _tokens(project: Project) -> LikelyTokens:
    result = kept(project)
    assert result is not None
    return result.tokens


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _kept(key: tuple[object, ...], _project: Project) -> KeptLikely | None:
    return kept_likely(_project)


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _ranked(key: tuple[object, ...], _project: Project) -> npt.NDArray[np.int64]:
    return _tokens(_project).ranked()


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _histogram(key: tuple[object, ...], _project: Project) -> pd.DataFrame:
    tokens = _tokens(_project)
    return likely_histogram(tokens, _ranked(key, _project)[: tokens.count(_WIDTH)])


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _names(key: tuple[object, ...], _project: Project) -> Sequence[LikelyName]:
    return likely_names(corpus.read_corpus(_project).documents, _tokens(_project))


@st.cache_resource(max_entries=_KEPT, show_spinner="Listing likely names")
def _table(key: tuple[object, ...], _project: Project) -> pd.DataFrame:
    table = missing_names(
        corpus.read_corpus(_project).documents,
        _names(_key(_project), _project),
        findings.known(_project),
        findings.match_options(_project),
        decisions=findings.decisions(_project),
    )
    return ranked_by_likeness(table, labels.labels(_project), corpus.sentences(_project))


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _sent_entities(key: tuple[object, ...], _project: Project) -> EntitiesByDocument:
    options = findings.match_options(_project)
    asked = {(fold_surface(phrase, options), name) for phrase, name in sent(_project)}
    documents = findings.documents(_project)
    entities: dict[str, list[Entity]] = {}
    for id, entity, _ in _names(_key(_project), _project):
        surface = documents[id].text[entity.start : entity.end]
        if (fold_surface(surface, options), entity.entity_type) in asked:
            entities.setdefault(id, []).append(entity)
    return entities
