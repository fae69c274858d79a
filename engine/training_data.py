"""Documents, dictionaries and decisions become what a method learns from."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.corrections import correct_labels
from engine.dictionary import Dictionary
from engine.distant import DistantLabels
from engine.features import Lexicon
from engine.preflight import check_labels, check_priors, label_warnings
from engine.pretrained import count_cut_tokens, cut_notes
from engine.settings import MATCH_PRESETS, Settings
from engine.text import Document, EntitiesByDocument, classes_from_spans, spans_from_entities


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Sentences with their distant labels, and the dictionaries that tokens are looked up in."""

    sentences: Sequence[Sequence[str]]
    labels: npt.NDArray[np.int16]  # (tokens,), 0 = unlabeled
    types: tuple[str, ...]
    lexicon: Lexicon | None = None
    cache: Path | None = None  # folder for features that are slow to compute
    context: Path | None = None  # file in it with what a frozen encoder sees of the sentences
    known_negatives: npt.NDArray[np.bool_] | None = None  # (tokens,), a person said: no entity


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

    What a person accepted or rejected overrides the dictionary where they decided.
    """
    are_given = {document.tokens_given for document in documents} == {True}
    lexicon = Lexicon(tuple(dictionaries), MATCH_PRESETS[preset], labels.types, are_given)
    sentences = tokens_of(documents)
    if not accepted and not rejected:
        return TrainingData(sentences, labels.labels, labels.types, lexicon)
    corrected = correct_labels(documents, labels, accepted or {}, rejected or {})
    return TrainingData(
        sentences,
        corrected.labels,
        labels.types,
        lexicon,
        known_negatives=corrected.known_negatives,
    )


def tokens_of(documents: Sequence[Document]) -> list[Sequence[str]]:
    """Return the tokens of every sentence of the documents, in order."""
    return [s.tokens for document in documents for s in document.sentences]


def complete_labels(
    documents: Sequence[Document], gold: EntitiesByDocument, types: Sequence[str]
) -> npt.NDArray[np.int16]:
    """Return the class of every token by human labels, for the upper reference alone."""
    parts = [np.zeros(0, np.int16)]
    for document in documents:
        known = [e for e in gold.get(document.id, ()) if e.entity_type in types]
        spans = spans_from_entities(document, known).spans
        parts += [
            classes_from_spans(of, len(sentence.tokens), types).astype(np.int16)
            for of, sentence in zip(spans, document.sentences, strict=True)
        ]
    return np.concatenate(parts)


def check_data(data: TrainingData, priors: npt.NDArray[np.float64]) -> None:
    """Raise InputError for labels or priors that no method can learn from."""
    check_labels(data.labels, data.types)
    check_priors(priors[1:])


def data_warnings(data: TrainingData, settings: Settings) -> list[str]:
    """Return what a person should know before they wait for a result."""
    cut = count_cut_tokens(data.sentences, settings)
    return [*label_warnings(data.labels, data.types), *cut_notes(cut)]
