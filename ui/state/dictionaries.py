"""The project's dictionaries, tables about them, and a change that is looked at before it is made.

Tables follow from the labels and are kept by their key; a draft is one visitor's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

import engine
from engine import Changes, Dictionary
from engine.dictionary import fingerprint
from engine.phrase_tables import dictionary_table, length_table, phrase_table, rank_table
from engine.project import Project
from ui.state import labels as distant
from ui.state.corpus import read_corpus

_KEPT = 4
_DRAFT = "dictionary_draft"


@dataclass(frozen=True, slots=True)
class DictionaryTables:
    """What the page of dictionaries shows."""

    dictionaries: pd.DataFrame  # a row a dictionary, see engine.phrase_tables
    phrases: pd.DataFrame  # a row a phrase
    by_type: pd.DataFrame | None  # entity_type, phrases, phrases_used, matches; None without text
    ranks: pd.DataFrame
    lengths: pd.DataFrame


@dataclass(frozen=True, slots=True)
class Draft:
    """A change of dictionaries or matching that was asked for and not made yet."""

    labels_key: str  # what it changes; it is dropped when that is no longer so
    version: int
    dictionaries: tuple[Dictionary, ...]
    preset: str
    reason: str


def read_dictionaries(project: Project) -> tuple[Dictionary, ...]:
    """Return the dictionaries as they are now."""
    history = project.dictionary_history()
    if not history:
        return ()
    return _dictionaries((project.id, history[0].version, str(history[0].saved_at)), project)


def tables(project: Project) -> DictionaryTables:
    """Return the tables about the dictionaries; without text nothing is known of matches."""
    return _tables((project.id, project.labels_key()), project)


def changes(project: Project, draft: Draft) -> Changes | None:
    """Return the matches that the draft would add and take away; None without text."""
    if not project.text_key():
        return None
    key = (project.id, draft.labels_key, fingerprint(draft.dictionaries), draft.preset)
    return _changes(key, project, draft)


# ---- the draft ------------------------------------------------------------------------------


def set_draft(
    project: Project, dictionaries: Sequence[Dictionary], preset: str, reason: str
) -> None:
    """Keep a change to be looked at; a change of nothing is none."""
    held = (read_dictionaries(project), project.match_preset())
    if (tuple(dictionaries), preset) == held:
        drop_draft()
        return
    st.session_state[_DRAFT] = Draft(
        project.labels_key(), project.dictionary_version(), tuple(dictionaries), preset, reason
    )


def draft(project: Project) -> Draft | None:
    """Return the change that is looked at, unless text or dictionaries are others by now."""
    found: Draft | None = st.session_state.get(_DRAFT)
    return found if found and found.labels_key == project.labels_key() else None


def drop_draft() -> None:
    """Forget the change."""
    st.session_state.pop(_DRAFT, None)


# ---- kept by content ------------------------------------------------------------------------


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading the dictionaries")
def _dictionaries(key: tuple[object, ...], _project: Project) -> tuple[Dictionary, ...]:
    return tuple(_project.dictionaries())


@st.cache_resource(max_entries=_KEPT, show_spinner="Counting")
def _tables(key: tuple[str, str], _project: Project) -> DictionaryTables:
    found = distant.labels(_project) if _project.text_key() else None
    held = read_dictionaries(_project)
    phrases = phrase_table(held, found)
    return DictionaryTables(
        dictionary_table(held, found),
        phrases,
        engine.coverage_by_type(found) if found else None,
        rank_table(phrases),
        length_table(phrases),
    )


@st.cache_resource(max_entries=_KEPT, show_spinner="Matching")
def _changes(key: tuple[str, ...], _project: Project, _draft: Draft) -> Changes:
    documents = read_corpus(_project).documents
    after = engine.label(documents, _draft.dictionaries, _draft.preset)
    return engine.label_changes(distant.labels(_project), after)
