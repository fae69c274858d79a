"""The project's dictionaries, tables about them, and a change to preview before it applies.

Tables are cached by the key of the labels; a draft belongs to one visitor.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from engine.dictionaries import NEVER, Dictionary, fingerprint
from engine.labels import (
    Changes,
    DistantLabels,
    coverage_by_type,
    dictionary_table,
    label,
    label_changes,
    length_table,
    phrase_table,
    rank_table,
)
from engine.projects import Project
from ui.state import labels as distant
from ui.state.corpus import read_corpus

_KEPT = 4
_DRAFT = "dictionary_draft"
_UPLOADED = "dictionaries_uploaded"  # the project to which this visitor added some


@dataclass(frozen=True, slots=True)
class ChartTables:
    """The tables behind the figures."""

    by_type: pd.DataFrame  # entity_type, phrases, phrases_used, matches
    ranks: pd.DataFrame  # rank, phrase, entity_type, matches
    lengths: pd.DataFrame  # words, phrases, used, matches


@dataclass(frozen=True, slots=True)
class Draft:
    """A change of dictionaries or matching that is not applied yet."""

    labels_key: str  # of what it changes; a draft for other labels is dropped
    version: int
    dictionaries: tuple[Dictionary, ...]
    preset: str
    reason: str


def read_dictionaries(project: Project) -> tuple[Dictionary, ...]:
    """Return the dictionaries as they are now."""
    return distant.dictionaries(project) if project.dictionary_version() else ()


def dictionary_rows(project: Project) -> pd.DataFrame:
    """Return one row per dictionary; without text, matches are missing."""
    return _dictionary_rows((project.id, project.labels_key()), project)


def phrase_rows(project: Project) -> pd.DataFrame:
    """Return one row per phrase; without text, matches are missing."""
    return _phrase_rows((project.id, project.labels_key()), project)


def label_notes(project: Project) -> tuple[str, ...]:
    """Return what matching could not do: patterns that took too long."""
    labels = _labels(project)
    return labels.notes if labels else ()


def chart_tables(project: Project) -> ChartTables | None:
    """Return the tables behind the figures; None without text."""
    if not project.text_key():
        return None
    return _chart_tables((project.id, project.labels_key()), project)


def changes(project: Project, draft: Draft) -> Changes | None:
    """Return the matches that the draft would add and remove; None without text."""
    if not project.text_key():
        return None
    key = (project.id, draft.labels_key, fingerprint(draft.dictionaries), draft.preset)
    return _changes(key, project, draft)


# ---- the draft ------------------------------------------------------------------------------


def set_draft(
    project: Project, dictionaries: Sequence[Dictionary], preset: str, reason: str
) -> None:
    """Keep a change to preview; if nothing changes, there is no draft."""
    held = (read_dictionaries(project), project.match_preset())
    if (tuple(dictionaries), preset) == held:
        drop_draft()
        return
    st.session_state[_DRAFT] = Draft(
        project.labels_key(), project.dictionary_version(), tuple(dictionaries), preset, reason
    )


def draft(project: Project) -> Draft | None:
    """Return the change to preview, unless text or dictionaries have changed since."""
    kept: Draft | None = st.session_state.get(_DRAFT)
    return kept if kept and kept.labels_key == project.labels_key() else None


def remember_upload(project: Project) -> None:
    """Remember that this visitor added dictionaries to the project."""
    st.session_state[_UPLOADED] = project.id


def was_uploaded(project: Project) -> bool:
    """Return whether this visitor has added dictionaries to the project."""
    return bool(st.session_state.get(_UPLOADED) == project.id)


def drop_draft() -> None:
    """Forget the change."""
    st.session_state.pop(_DRAFT, None)


# ---- caches ---------------------------------------------------------------------------------


def _labels(project: Project) -> DistantLabels | None:
    return distant.labels(project) if project.text_key() else None


@st.cache_resource(max_entries=_KEPT, show_spinner="Counting")
def _dictionary_rows(key: tuple[str, str], _project: Project) -> pd.DataFrame:
    return dictionary_table(read_dictionaries(_project), _labels(_project))


@st.cache_resource(max_entries=_KEPT, show_spinner="Counting")
def _phrase_rows(key: tuple[str, str], _project: Project) -> pd.DataFrame:
    return phrase_table(read_dictionaries(_project), _labels(_project))


@st.cache_resource(max_entries=_KEPT, show_spinner="Counting")
def _chart_tables(key: tuple[str, str], _project: Project) -> ChartTables:
    phrases = phrase_rows(_project)
    phrases = phrases[phrases["entity_type"] != NEVER]
    by_type = coverage_by_type(distant.labels(_project))
    return ChartTables(by_type, rank_table(phrases), length_table(phrases))


@st.cache_resource(max_entries=_KEPT, show_spinner="Matching")
def _changes(key: tuple[str, ...], _project: Project, _draft: Draft) -> Changes:
    documents = read_corpus(_project).documents
    after = label(documents, _draft.dictionaries, _draft.preset)
    return label_changes(distant.labels(_project), after)
