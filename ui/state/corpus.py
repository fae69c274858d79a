"""Read a project's text and gold once for all visitors, and cache them by content.

They are cached as resources, which Streamlit shares instead of copying: a corpus is too large to
copy at every click. They are frozen, and no view changes a table in place.
"""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from engine.formats import Aligned
from engine.projects import Project
from engine.text import (
    Corpus,
    InputError,
    Sentence,
    TextFigures,
    document_lengths,
    document_table,
    measure_text,
    sentence_lengths,
)

_KEPT = 4  # entries per cache; more would fill the memory of a small machine


@dataclass(frozen=True, slots=True)
class TextTables:
    """The figures and tables on the Text page."""

    figures: TextFigures
    documents: pd.DataFrame  # document, sentences, tokens, longest, text
    sentence_lengths: pd.DataFrame  # first, last, count
    document_lengths: pd.DataFrame


def read_corpus(project: Project) -> Corpus:
    """Return all text of the project as one corpus; InputError if it cannot be read."""
    return _corpus((project.id, project.text_key()), project)


def sentences(project: Project) -> tuple[Sentence, ...]:
    """Return the sentences of the corpus, in order."""
    return _sentences((project.id, project.text_key()), project)


def gold(project: Project) -> Aligned | None:
    """Return gold from its own files, else from the text files, else None."""
    return _gold((project.id, project.text_key(), project.gold_key()), project)


def has_gold(project: Project) -> bool:
    """Return whether there is gold that can be read."""
    try:
        return gold(project) is not None
    except InputError:
        return False


def text_tables(project: Project) -> TextTables:
    """Return the figures and tables about the text."""
    return _text_tables((project.id, project.text_key()), project)


# Streamlit leaves parameters that begin with an underscore out of the cache key.


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading the text")
def _corpus(key: tuple[str, ...], _project: Project) -> Corpus:
    return _project.corpus()


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _sentences(key: tuple[str, ...], _project: Project) -> tuple[Sentence, ...]:
    return tuple(read_corpus(_project).sentences)


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading the gold")
def _gold(key: tuple[str, ...], _project: Project) -> Aligned | None:
    return _project.gold(read_corpus(_project))


@st.cache_resource(max_entries=_KEPT, show_spinner="Counting")
def _text_tables(key: tuple[str, ...], _project: Project) -> TextTables:
    corpus = read_corpus(_project)
    return TextTables(
        measure_text(corpus),
        document_table(corpus),
        sentence_lengths(corpus),
        document_lengths(corpus),
    )
