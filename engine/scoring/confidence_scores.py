"""Score confidences per token against gold, as in the paper's Table 6."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.scoring.metrics import Scores
from engine.text import Document, Entity, spans_from_entities

Flags = npt.NDArray[np.bool_]  # (tokens,)


@dataclass(frozen=True, slots=True)
class ConfidenceScores:
    """Precision and recall of "confidence above the threshold" as a test for entity tokens."""

    unlabeled: Scores  # over tokens that no dictionary labels: those that Conf-MPU leaves out
    all: Scores  # over all tokens


def score_confidence(
    values: npt.NDArray[np.floating],
    labels: npt.NDArray[np.int16],
    is_entity: Flags,
    *,
    threshold: float,
    is_annotated: Flags | None = None,
) -> ConfidenceScores:
    """Return the scores of the confidences; `is_annotated` says which tokens have gold.

    >>> values, labels = np.array([0.9, 0.8, 0.6, 0.1]), np.array([1, 0, 0, 0], np.int16)
    >>> is_entity = np.array([True, True, False, True])
    >>> score_confidence(values, labels, is_entity, threshold=0.5).unlabeled
    Scores(correct=1, predicted=2, support=2)
    """
    is_confident = values > threshold

    def scores(tokens: Flags) -> Scores:
        if is_annotated is not None:
            tokens = tokens & is_annotated
        predicted, entity = is_confident & tokens, is_entity & tokens
        return Scores(int((predicted & entity).sum()), int(predicted.sum()), int(entity.sum()))

    return ConfidenceScores(scores(labels == 0), scores(np.ones(len(labels), bool)))


def score_confidence_of_documents(
    values: npt.NDArray[np.floating],
    labels: npt.NDArray[np.int16],
    documents: Sequence[Document],
    gold: Mapping[str, Sequence[Entity]],
    *,
    threshold: float,
) -> ConfidenceScores:
    """Return the scores of the confidences in the documents that have gold."""
    is_entity, is_annotated = entity_tokens(documents, gold)
    return score_confidence(
        values, labels, is_entity, threshold=threshold, is_annotated=is_annotated
    )


def entity_tokens(
    documents: Sequence[Document], gold: Mapping[str, Sequence[Entity]]
) -> tuple[Flags, Flags]:
    """Return which tokens are in a gold entity, and which are in annotated documents."""
    is_entity, is_annotated = [np.zeros(0, bool)], [np.zeros(0, bool)]
    for document in documents:
        spans = spans_from_entities(document, gold.get(document.id, ())).spans
        for sentence, in_sentence in zip(document.sentences, spans, strict=True):
            flags = np.zeros(len(sentence), bool)
            for span in in_sentence:
                flags[span.start : span.end] = True
            is_entity.append(flags)
            is_annotated.append(np.full(len(flags), document.id in gold))
    return np.concatenate(is_entity), np.concatenate(is_annotated)
