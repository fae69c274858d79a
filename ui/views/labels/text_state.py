"""Select the sentences for the page Distant labels, and gather the figures of one phrase."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from engine.dictionaries import phrase_flags
from engine.formats import Aligned
from engine.labels import KEPT, SAME_TYPE, DistantLabels, phrase_usage
from engine.projects import Project
from ui.state import corpus
from ui.state import labels as state
from ui.state.labels import Key

ALL, WITH, WITHOUT, CONFLICT = "All", "With a match", "Without a match", "With a conflict"
_KEPT = 8  # selections; each is a list of sentence numbers
_MOST_CHOICES = 500  # phrases in the list; any other can be typed


@dataclass(frozen=True, slots=True)
class Filter:
    """The filters of the page; an empty field does not filter."""

    kind: str = ALL
    types: tuple[str, ...] = ()
    dictionaries: tuple[str, ...] = ()
    phrase: str = ""
    words: str = ""  # anywhere in the sentence, in any case


@dataclass(frozen=True, slots=True)
class Selection:
    """The sentences that match a filter, and the matches to mark in them."""

    sentences: npt.NDArray[np.intp]  # numbers in the corpus, in order
    matches: pd.DataFrame  # sentence, start, end (token indices), type (class)


def select(project: Project, chosen: Filter) -> Selection:
    """Return the sentences that match the filter."""
    return _select((project.id, project.labels_key(), chosen), project)


def phrase_choices(project: Project) -> dict[str, int]:
    """Return the phrases with most matches, and their numbers of matches."""
    usage = _usage((project.id, project.labels_key()), project)
    used = usage[usage["matches"] + usage["lost"] > 0]
    top = used.drop_duplicates("phrase").head(_MOST_CHOICES)
    return dict(zip(top["phrase"], top["matches"].tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class PhraseCard:
    """The figures of one phrase, in any case."""

    rows: pd.DataFrame  # phrase, entity_type, dictionary, matches, lost, precision
    documents: int
    flags: tuple[str, ...]

    @property
    def types(self) -> list[str]:
        return list(dict.fromkeys(self.rows["entity_type"]))


def phrase_card(project: Project, phrase: str, gold: Aligned | None) -> PhraseCard | None:
    """Return the figures of a phrase; None if no dictionary has it, or it is muted."""
    usage = _usage((project.id, project.labels_key()), project)
    rows = usage[usage["phrase"].str.casefold() == phrase.casefold()]
    if rows.empty:
        return None
    keys = ["phrase", "entity_type", "dictionary"]
    noisy = state.noisy(project, gold)[[*keys, "precision"]]
    matches = state.matches(project)
    documents = matches.loc[matches["phrase"].isin(rows["phrase"]), "document"].nunique()
    return PhraseCard(rows.merge(noisy, on=keys, how="left"), documents, phrase_flags(phrase))


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _usage(key: Key, _project: Project) -> pd.DataFrame:
    return phrase_usage(state.labels(_project))


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _select(key: Key, _project: Project) -> Selection:
    chosen = key[-1]
    assert isinstance(chosen, Filter)
    labels = state.labels(_project)
    every = np.arange(len(labels.bounds) - 1)
    wanted = labels.matches[_is_wanted(labels, chosen)]
    kept = wanted[wanted["outcome"] == KEPT]
    if chosen.kind == CONFLICT:
        numbers = _with_conflict(labels, wanted)
    elif chosen.kind == WITHOUT:
        numbers = np.setdiff1d(every, kept["sentence"].to_numpy())
    elif chosen.kind == WITH or chosen.types or chosen.dictionaries or chosen.phrase:
        numbers = np.unique(kept["sentence"].to_numpy())
    else:
        numbers = every
    if chosen.words:
        sentences, words = corpus.sentences(_project), chosen.words.casefold()
        numbers = np.array([i for i in numbers if words in sentences[i].text.casefold()], np.intp)
    return Selection(numbers, kept[["sentence", "start", "end", "type"]])


def _is_wanted(labels: DistantLabels, chosen: Filter) -> npt.NDArray[np.bool_]:
    """Return which matches, kept or lost, have the chosen types, dictionaries and phrase."""
    matches = labels.matches
    wanted = np.ones(len(matches), bool)
    if chosen.types:
        numbers = [i for i, name in enumerate(labels.types, 1) if name in chosen.types]
        wanted &= matches["type"].isin(numbers).to_numpy()
    if not chosen.dictionaries and not chosen.phrase:
        return wanted
    phrases = labels.phrases
    fits = np.ones(len(phrases), bool)
    if chosen.dictionaries:
        fits &= phrases["dictionary"].isin(chosen.dictionaries).to_numpy()
    if chosen.phrase:
        fits &= (phrases["phrase"].str.casefold() == chosen.phrase.casefold()).to_numpy(bool)
    accounted = fits[matches["phrase"].to_numpy()]
    also = labels.also  # several phrases may explain one match
    accounted[also["match"].to_numpy()[fits[also["phrase"].to_numpy()]]] = True
    return wanted & accounted


def _with_conflict(labels: DistantLabels, wanted: pd.DataFrame) -> npt.NDArray[np.intp]:
    """Return the sentences in which a wanted match lost to another type, or won over one."""
    lost = labels.matches[labels.matches["outcome"] > SAME_TYPE]
    is_met = lost.index.isin(wanted.index) | lost["winner"].isin(wanted.index)
    return np.unique(lost.loc[is_met, "sentence"].to_numpy())
