"""Turn documents, dictionaries and decisions into the sentences and labels a method learns from."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.dictionaries import Dictionary
from engine.labels import DistantLabels, correct_labels, match_options
from engine.network import Lexicon, count_cut_tokens, cut_notes
from engine.planning import check_labels, check_priors, label_warnings, language_warnings
from engine.settings import Settings
from engine.text import (
    Document,
    EntitiesByDocument,
    classes_from_spans,
    current_language,
    spans_from_entities,
)

_TOKENS_AT_ONCE = 200_000  # in a group of documents


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Sentences with their distant labels, and the dictionaries that tokens are looked up in."""

    sentences: Sequence[Sequence[str]]
    labels: npt.NDArray[np.int16]  # (tokens,), 0 = unlabeled
    types: tuple[str, ...]
    lexicon: Lexicon | None = None
    cache: Path | None = None  # folder for features that are slow to compute
    context: Path | None = None  # file in it with the contextual features of the sentences
    known_negatives: npt.NDArray[np.bool_] | None = None  # (tokens,), somebody said: no entity


def make_training_data(
    documents: Sequence[Document],
    dictionaries: Sequence[Dictionary],
    labels: DistantLabels,
    preset: str,
    *,
    accepted: EntitiesByDocument | None = None,
    rejected: EntitiesByDocument | None = None,
) -> TrainingData:
    """Return the documents' sentences with their labels, and the dictionaries as a lexicon.

    What a person accepted or rejected overrides the dictionaries.
    """
    are_given = {document.tokens_given for document in documents} == {True}
    options, folding = match_options(preset), labels.folding
    # What matches only at given places says nothing about another text.
    anywhere = tuple(dictionary for dictionary in dictionaries if dictionary.places is None)
    lexicon = Lexicon(anywhere, options, labels.types, are_given, folding)
    sentences = tokens_of(documents)
    if not accepted and not rejected:
        negatives = labels.known_negatives
        return TrainingData(
            sentences, labels.labels, labels.types, lexicon, known_negatives=negatives
        )
    corrected = correct_labels(documents, labels, accepted or {}, rejected or {})
    return TrainingData(
        sentences,
        corrected.labels,
        labels.types,
        lexicon,
        known_negatives=corrected.known_negatives,
    )


def tokens_of(documents: Iterable[Document]) -> list[Sequence[str]]:
    """Return the tokens of every sentence of the documents, in order."""
    return [tokens for document in documents for tokens in document.tokens_by_sentence()]


def groups(documents: Iterable[Document], at_once: int | None = None) -> Iterator[list[Document]]:
    """Yield the documents some at a time: so many tokens, or as many as fit in memory."""
    at_once = at_once or _TOKENS_AT_ONCE
    group: list[Document] = []
    tokens = 0
    for document in documents:
        group.append(document)
        tokens += document.token_count
        if tokens >= at_once:
            yield group
            group, tokens = [], 0
    if group:
        yield group


def sentence_groups(
    sentences: Iterable[Sequence[str]],
) -> Iterator[list[Sequence[str]]]:
    """Yield the sentences some at a time, each group as large as features fit in memory."""
    group: list[Sequence[str]] = []
    tokens = 0
    for sentence in sentences:
        group.append(sentence)
        tokens += len(sentence)
        if tokens >= _TOKENS_AT_ONCE:
            yield group
            group, tokens = [], 0
    if group:
        yield group


def complete_labels(
    documents: Sequence[Document], gold: EntitiesByDocument, types: Sequence[str]
) -> npt.NDArray[np.int16]:
    """Return the class of every token by human labels: for the upper reference only."""
    parts = [np.zeros(0, np.int16)]
    for document in documents:
        known = [e for e in gold.get(document.id, ()) if e.entity_type in types]
        by_sentence = spans_from_entities(document, known).spans
        parts += [
            classes_from_spans(spans, len(sentence), types).astype(np.int16)
            for spans, sentence in zip(by_sentence, document.sentences, strict=True)
        ]
    return np.concatenate(parts)


def check_data(data: TrainingData, priors: npt.NDArray[np.float64]) -> None:
    """Raise InputError for labels or priors that no method can learn from."""
    check_labels(data.labels, data.types)
    check_priors(priors[1:])


def data_warnings(data: TrainingData, settings: Settings) -> list[str]:
    """Return what a person should know before waiting for a result."""
    cut = count_cut_tokens(data.sentences, settings)
    return [
        *label_warnings(data.labels, data.types, data.sentences),
        *language_warnings(current_language(), settings.encoder_name),
        *cut_notes(cut),
    ]
