"""A person's decisions override distant labels: accepted spans are labeled, rejected ones are not.

Decisions train, they never score: what a person accepted is a label like the dictionary's, and
what they rejected is the one kind of negative that is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.distant import DistantLabels
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

    Rejecting says "this is no Disease": tokens that the dictionary gives another type keep it.
    Where both were said of a token (a boundary was moved), what was accepted holds.
    """
    values = labels.labels.copy()
    is_negative = np.zeros(len(values), bool)
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
    """The flat token indices under each entity, with its type."""
    found = []
    first = 0  # sentence of the document, among all
    for document in documents:
        # One at a time: two decisions may overlap, and none is dropped for another.
        for entity in entities.get(document.id, ()):
            by_sentence = spans_from_entities(document, [entity]).spans
            for i, spans in enumerate(by_sentence):
                for span in spans:
                    found.append((_flat(labels, first + i, span), span.entity_type))
        first += len(document.sentences)
    return found


def _flat(labels: DistantLabels, sentence: int, span: Span) -> npt.NDArray[np.int64]:
    begin = int(labels.bounds[sentence])
    return np.arange(begin + span.start, begin + span.end)
