"""Distant labels and the tables about them, cached by the content they come from.

They are cached as resources: shared by all visitors and never copied, so no view may change a table
in place. A table is made when it is first needed, so a tab that nobody opens costs nothing.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO

import pandas as pd
import streamlit as st

from engine.dictionaries import Dictionary, PhraseRow, find_phrases, list_phrases, mute_phrases
from engine.formats import FORMATS, Aligned, WriteOptions
from engine.labels import (
    Adaptation,
    Coverage,
    DistantLabels,
    added_labels,
    coverage_along,
    dictionary_entities,
    label_changes,
    matches_per_sentence,
    measure_coverage,
    missing_candidates,
)
from engine.labels import conflicts as conflict_table
from engine.projects import EarlierLabels, Project, labels_of
from engine.review import judgements
from engine.scoring import (
    Evaluation,
    GoldPlaces,
    GoldSpans,
    Judgements,
    Scores,
    checked_precisions,
    draw_sample,
    evaluate_spans,
    gold_places,
    gold_spans,
    joined_flags,
    judgements_from_gold,
    kept_matches,
    mixed,
    noisy_phrases,
    score_labels,
)
from engine.text import Corpus, InputError, Sentence
from ui.state import corpus, current

_KEPT = 4  # cached results of each kind; more would fill the memory of a small machine
_MATCH_PRESET = "labels_match_preset"
_AGAIN = "labels_check_again"
TAB = "labels_tab"  # of the page Distant labels
Key = tuple[object, ...]
Place = tuple[str, int, int, str]


# ---- labels ---------------------------------------------------------------------------------


def labels(project: Project) -> DistantLabels:
    """Return the distant labels of the project's text by its current dictionaries."""
    return _labels(_key(project), project)


def dictionaries(project: Project) -> tuple[Dictionary, ...]:
    """Return the current dictionaries."""
    return _version(project, project.dictionary_version())


def coverage(project: Project) -> Coverage:
    """Return the headline figures."""
    return _coverage(_key(project), project)


@dataclass(frozen=True, slots=True)
class CoverageTables:
    """Where the labels are, and which dictionaries they come from."""

    along: pd.DataFrame
    per_sentence: pd.DataFrame  # matches, sentences
    by_dictionary: pd.DataFrame  # dictionary, entity_type, phrases, matches


def coverage_tables(project: Project) -> CoverageTables:
    """Return the tables of the tab Coverage."""
    return _coverage_tables(_key(project), project)


def conflicts(project: Project) -> pd.DataFrame:
    """Return every match that lost to another type."""
    return _conflicts(_key(project), project)


def missing(project: Project) -> pd.DataFrame:
    """Return phrases that may be missing from the dictionaries."""
    return _missing(_key(project), project)


def added(project: Project) -> pd.DataFrame:
    """Return the labels that only adaptive matching gives."""
    return _added(_key(project), project)


@dataclass(frozen=True, slots=True)
class Advice:
    """What adaptive matching would decide, and how it would change the labels."""

    adaptation: Adaptation
    changed: pd.DataFrame  # text, entity_type, phrase, change (added, removed), matches


def advice(project: Project) -> Advice | None:
    """Return what adaptive matching would change; None if each dictionary has its own matching."""
    return _advice(_key(project), project)


def matches(project: Project) -> pd.DataFrame:
    """Return the kept matches, with what a person needs to judge them."""
    return _matches(_key(project), project)


def entities_csv(project: Project) -> bytes:
    """Return the distant labels as a file with one row per entity."""
    out, write = BytesIO(), FORMATS["entities"].write
    assert write is not None
    write(labeled_text(project), out, WriteOptions())
    return out.getvalue()


def labeled_text(project: Project) -> Corpus:
    """Return the text with the distant labels as its entities."""
    documents = corpus.read_corpus(project).documents
    return Corpus(documents, dictionary_entities(labels(project), documents))


# ---- precision ------------------------------------------------------------------------------


def scores(project: Project, gold: Aligned) -> Scores:
    """Return the labels' scores against gold, over all types."""
    return _scores((*_key(project), project.gold_key()), project, gold)


def evaluation(project: Project, gold: Aligned) -> Evaluation:
    """Return the labels' scores against gold by type, and the errors; takes longer."""
    return _evaluation((*_key(project), project.gold_key()), project, gold)


@dataclass(frozen=True, slots=True)
class Checked:
    """Judgements by hand, and the precision they give."""

    judgements: Judgements
    overall: pd.Series  # of `checked_precision`: checked, precision, low, high
    by_dictionary: pd.DataFrame
    by_type: pd.DataFrame


def checked(project: Project) -> Checked:
    """Return the precision from matches that were judged by hand."""
    stored = project.decisions("check")
    key = (*_key(project), tuple(decision.id for decision in stored))
    return _checked(key, project, judgements(stored))


def noisy(project: Project, gold: Aligned | None) -> pd.DataFrame:
    """Return the phrases by their estimated number of false matches."""
    stored = project.decisions("check")
    ids = tuple(decision.id for decision in stored)
    key = (*_key(project), gold is not None and project.gold_key(), ids)
    return _noisy(key, project, gold, judgements(stored))


def sample(project: Project, size: int) -> pd.DataFrame:
    """Return matches to judge, types and dictionaries mixed."""
    return _sample((*_key(project), size), project)


def judge(project: Project, match: pd.Series, verdict: str) -> None:
    """Store a verdict on a match: accepted, rejected or unsure. For a callback."""
    st.session_state.pop(_AGAIN, None)
    with _said():
        project.add_decision(
            "check",
            match["document"],
            int(match["start"]),
            int(match["end"]),
            match["entity_type"],
            verdict,
            source=match["dictionary"],
            surface=match["text"],
        )


def take_back(project: Project) -> None:
    """Undo the latest judgement, to judge that match again. For a callback."""
    with _said():
        taken = project.undo_decision("check")
        st.session_state[_AGAIN] = taken.place if taken else None


@contextmanager
def _said() -> Iterator[None]:
    """Keep an error for the head of the page: a callback runs before the page is drawn."""
    try:
        yield
    except InputError as error:
        current.say(str(error), "error")


def to_judge_again() -> Place | None:
    """Return the place whose judgement was just undone."""
    return st.session_state.get(_AGAIN)


def open_tab(name: str) -> None:
    """Let the page Distant labels open at this tab."""
    st.session_state[TAB] = name


# ---- changes --------------------------------------------------------------------------------


def preset_key(project: Project) -> str:
    """Return the key of the preset widget, set to the stored preset."""
    st.session_state[_MATCH_PRESET] = project.match_preset()
    return _MATCH_PRESET


def store_preset(project: Project) -> None:
    """Store the preset just chosen. For a callback."""
    with _said():
        project.set_match_preset(st.session_state[_MATCH_PRESET])


def muted(project: Project) -> list[tuple[str, str]]:
    """Return the muted phrases, with their types."""
    return sorted({pair for dictionary in dictionaries(project) for pair in dictionary.muted})


def mute(project: Project, pairs: Sequence[tuple[str, str]]) -> None:
    """Let these phrases (with their types) match nothing, in any case and any dictionary."""
    version = project.dictionary_version()
    held = _version(project, version)
    rows = find_phrases(held, pairs)
    changed = tuple(mute_phrases(held, rows))
    reason = f"Muted {list_phrases(row.text for row in rows)}"
    saved = project.save_dictionaries(changed, reason, based_on=version)
    _saved(project.id)[:] = [(_dictionaries_key(project, saved), changed)]


def mute_short_forms(project: Project, rows: Sequence[PhraseRow]) -> None:
    """Let these abbreviations match nothing, in any document."""
    project.mute_short_forms(rows)


def unmute(project: Project, pairs: Sequence[tuple[str, str]]) -> None:
    """Let these muted phrases match again, as they are spelled."""
    held = dictionaries(project)
    rows = [PhraseRow(d.name, *pair) for d in held for pair in d.muted.intersection(pairs)]
    project.unmute_phrases(rows)


def relabel(project: Project, phrase: str, old_type: str, new_type: str) -> None:
    """Move a phrase to another type, in any case and any dictionary."""
    project.relabel_phrases(find_phrases(dictionaries(project), [(phrase, old_type)]), new_type)


# ---- the caches -----------------------------------------------------------------------------
# Streamlit leaves arguments that begin with an underscore out of the cache key.


def _key(project: Project) -> Key:
    return (project.id, project.labels_key())


@st.cache_resource(max_entries=2 * _KEPT, show_spinner="Finding the phrases in the text")
def _labels(key: Key, _project: Project) -> DistantLabels:
    version, preset = _project.dictionary_version(), _project.match_preset()
    latest = _latest(_project.id)
    labels = labels_of(
        _project,
        version,
        preset,
        documents=lambda: corpus.read_corpus(_project).documents,
        dictionaries_at=lambda number: _version(_project, number),
        earlier=latest[0] if latest else None,
    )
    latest[:] = [EarlierLabels(_project.labels_key(version, preset), version, labels)]
    return labels


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _latest(project_id: str) -> list[EarlierLabels]:
    """The labels that were shown last, if any."""
    return []


def _version(project: Project, version: int) -> tuple[Dictionary, ...]:
    return _dictionaries(_dictionaries_key(project, version), project)


def _dictionaries_key(project: Project, version: int) -> Key:
    # A reset sample numbers its versions anew, so the number alone is not enough.
    return (project.id, version, project.dictionary_key(version))


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading the dictionaries")
def _dictionaries(key: Key, _project: Project) -> tuple[Dictionary, ...]:
    for saved, changed in _saved(_project.id):
        if saved == key:
            return changed
    _, version, _ = key
    assert isinstance(version, int)
    return tuple(_project.dictionaries_at(version))


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _saved(project_id: str) -> list[tuple[Key, tuple[Dictionary, ...]]]:
    """What was saved last, if anything: reading 100,000 phrases again takes longer than a mute."""
    return []


@st.cache_resource(max_entries=2 * _KEPT, show_spinner=False)
def _coverage(key: Key, _project: Project) -> Coverage:
    return measure_coverage(labels(_project))


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _coverage_tables(key: Key, _project: Project) -> CoverageTables:
    current_labels = labels(_project)
    phrases = current_labels.phrases
    groups = ["dictionary", "entity_type"]
    credited = phrases.take(current_labels.kept["phrase"].to_numpy())  # a match counts once
    counts = {
        "phrases": phrases.groupby(groups).size(),
        "matches": credited.groupby(groups).size(),
    }
    by_dictionary = pd.DataFrame(counts).fillna(0).astype(int).reset_index()
    return CoverageTables(
        coverage_along(current_labels), matches_per_sentence(current_labels), by_dictionary
    )


@st.cache_resource(max_entries=2 * _KEPT, show_spinner=False)
def _conflicts(key: Key, _project: Project) -> pd.DataFrame:
    return conflict_table(labels(_project), corpus.sentences(_project))


@st.cache_resource(max_entries=_KEPT, show_spinner="Looking for what is missing")
def _missing(key: Key, _project: Project) -> pd.DataFrame:
    return missing_candidates(labels(_project), corpus.sentences(_project))


@st.cache_resource(max_entries=_KEPT, show_spinner="Counting the labels of variants")
def _added(key: Key, _project: Project) -> pd.DataFrame:
    return added_labels(labels(_project), corpus.sentences(_project))


@st.cache_resource(max_entries=_KEPT, show_spinner="Trying adaptive matching")
def _advice(key: Key, _project: Project) -> Advice | None:
    adaptive = labels_of(
        _project,
        preset="adaptive",
        documents=lambda: corpus.read_corpus(_project).documents,
        dictionaries_at=lambda number: _version(_project, number),
    )
    if adaptive.adaptation is None:
        return None
    changes, sentences = label_changes(labels(_project), adaptive), corpus.sentences(_project)
    parts = [
        _listed(changes.added, sentences).assign(change="added"),
        _listed(changes.removed, sentences).assign(change="removed"),
    ]
    changed = pd.concat(parts).sort_values("matches", ascending=False, kind="stable")
    return Advice(adaptive.adaptation, changed.reset_index(drop=True))


def _listed(changes: pd.DataFrame, sentences: Sequence[Sentence]) -> pd.DataFrame:
    """Return one row per text, type and phrase, with the number of matches."""
    texts = []
    for i, start, end in changes[["sentence", "start", "end"]].to_numpy(int).tolist():
        sentence = sentences[i]
        last = sentence.starts[end - 1] + len(sentence.tokens[end - 1])
        texts.append(" ".join(sentence.text[sentence.starts[start] : last].split()))
    rows = changes.assign(text=texts).groupby(["text", "entity_type", "phrase"])
    return rows.size().reset_index(name="matches")


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _matches(key: Key, _project: Project) -> pd.DataFrame:
    return kept_matches(labels(_project), corpus.sentences(_project))


@st.cache_resource(max_entries=2 * _KEPT, show_spinner="Comparing with gold")
def _scores(key: Key, _project: Project, _gold: Aligned) -> Scores:
    key = (_project.id, _project.text_key(), _project.gold_key())
    return score_labels(_gold_places(key, _project, _gold), labels(_project))


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _gold_places(key: Key, _project: Project, _gold: Aligned) -> GoldPlaces:
    return gold_places(corpus.read_corpus(_project).documents, _gold.entities)


@st.cache_resource(max_entries=2 * _KEPT, show_spinner="Comparing with gold")
def _evaluation(key: Key, _project: Project, _gold: Aligned) -> Evaluation:
    key = (_project.id, _project.text_key(), _project.gold_key())
    return evaluate_spans(_gold_spans(key, _project, _gold), labels(_project).spans())


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _gold_spans(key: Key, _project: Project, _gold: Aligned) -> GoldSpans:
    return gold_spans(corpus.read_corpus(_project).documents, _gold.entities)


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _checked(key: Key, _project: Project, _judgements: Judgements) -> Checked:
    kept = matches(_project)
    columns = ("dictionary", "entity_type")
    by_dictionary, by_type = checked_precisions(kept, _judgements, columns)
    return Checked(_judgements, by_dictionary.iloc[-1], by_dictionary, by_type)


@st.cache_resource(max_entries=_KEPT, show_spinner="Looking for noisy phrases")
def _noisy(
    key: Key, _project: Project, _gold: Aligned | None, _judgements: Judgements
) -> pd.DataFrame:
    by_gold = _gold_judgements(key[:-1], _project, _gold) if _gold else {}
    flags = _flags(_key(_project), _project)
    return noisy_phrases(matches(_project), {**by_gold, **_judgements}, flags)


# Apart from the judgements by hand, so that one more of them costs little in a large project.
@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _gold_judgements(key: Key, _project: Project, _gold: Aligned) -> Judgements:
    return judgements_from_gold(matches(_project), _gold.entities)


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _flags(key: Key, _project: Project) -> dict[str, str]:
    return joined_flags(matches(_project))


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _sample(key: Key, _project: Project) -> pd.DataFrame:
    size = key[-1]
    assert isinstance(size, int)
    return mixed(draw_sample(matches(_project), size)).reset_index(drop=True)
