"""Apply a person's decisions to distant labels: accepted spans are labeled, rejected ones not.

Decisions are used for training, never for scores: an accepted span is a label like those of the
dictionaries, and a rejected span is a known negative, like a phrase that is never an entity.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.labels.distant import DistantLabels
from engine.text import Document, EntitiesByDocument, InputError, Span, spans_from_entities


@dataclass(frozen=True, slots=True)
class CorrectedLabels:
    """Labels after a person's decisions."""

    labels: npt.NDArray[np.int16]  # (tokens,), 0 = unlabeled
    known_negatives: npt.NDArray[np.bool_]  # (tokens,), true only where the label is 0


def correct_labels(
    documents: Sequence[Document],
    labels: DistantLabels,
    accepted: EntitiesByDocument,
    rejected: EntitiesByDocument,
) -> CorrectedLabels:
    """Return the labels with the decisions applied.

    Rejecting means "this is not a Disease": tokens that a dictionary labels as another type keep
    it. If a token was both accepted and rejected (a boundary was moved), it counts as accepted.
    """
    values = labels.labels.copy()
    listed = labels.known_negatives  # phrases that are never an entity
    is_negative = np.zeros(len(values), bool) if listed is None else listed.copy()
    class_of = {name: i for i, name in enumerate(labels.types, start=1)}
    for tokens, name in _tokens_of(documents, labels, rejected):
        has_other = (values[tokens] != 0) & (values[tokens] != class_of.get(name, 0))
        decided = tokens[~has_other]
        values[decided] = 0
        is_negative[decided] = True
    for tokens, name in _tokens_of(documents, labels, accepted):
        if name not in class_of:
            raise InputError(
                f'an accepted entity is of the type "{name}", of which no dictionary has a phrase. '
                "Add a phrase of that type, or change the decision"
            )
        values[tokens] = class_of[name]
        is_negative[tokens] = False
    return CorrectedLabels(values, is_negative)


def _tokens_of(
    documents: Sequence[Document], labels: DistantLabels, entities: EntitiesByDocument
) -> list[tuple[npt.NDArray[np.int64], str]]:
    """Return the token indices (over all sentences) and the type of each entity."""
    entity_tokens = []
    first = 0  # number of the document's first sentence in the corpus
    for document in documents:
        # One at a time, because overlapping decisions must not drop each other.
        for entity in entities.get(document.id, ()):
            by_sentence = spans_from_entities(document, [entity]).spans
            for i, spans in enumerate(by_sentence):
                for span in spans:
                    entity_tokens.append((_flat(labels, first + i, span), span.entity_type))
        first += len(document.sentences)
    return entity_tokens


def _flat(labels: DistantLabels, sentence: int, span: Span) -> npt.NDArray[np.int64]:
    begin = int(labels.bounds[sentence])
    return np.arange(begin + span.start, begin + span.end)
