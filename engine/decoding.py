"""Probabilities become spans with scores: maximal runs of one class, as the paper decodes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.text import Document, Entity, Span, spans_from_classes


@dataclass(frozen=True, slots=True)
class Prediction:
    """A span that a tagger found, and how sure it is of its tokens on average."""

    span: Span
    score: float  # mean probability of the span's type over its tokens


def matching_odds(probs: npt.NDArray[np.float32], entity_prior: float) -> float:
    """Return the weight of non-entity at which the share of predicted entities is the prior's.

    A class weight that makes a tagger learn also makes it predict too much; the prior, which
    needs no gold, says how much is right.
    """
    best = probs[:, 1:].max(axis=1) / np.maximum(probs[:, 0], 1e-12)
    return float(np.clip(np.quantile(best, 1 - entity_prior), 1e-6, 1e6)) if len(best) else 1.0


def weigh(probs: npt.NDArray[np.float32], odds: float) -> npt.NDArray[np.float32]:
    """Return the probabilities with those of non-entity multiplied by `odds`."""
    if odds == 1:
        return probs
    weighed = probs.copy()
    weighed[:, 0] *= odds
    weighed /= weighed.sum(axis=1, keepdims=True)
    return weighed


def predictions(
    probs: npt.NDArray[np.float32], bounds: npt.NDArray[np.int64], types: Sequence[str]
) -> list[list[Prediction]]:
    """Return the spans of each sentence; sentence i is probs[bounds[i]:bounds[i + 1]]."""
    classes = probs.argmax(axis=1)
    found = []
    for i in range(len(bounds) - 1):
        first, last = int(bounds[i]), int(bounds[i + 1])
        of = []
        if classes[first:last].any():
            for span in spans_from_classes(classes[first:last], types):
                column = types.index(span.entity_type) + 1
                score = float(probs[first + span.start : first + span.end, column].mean())
                of.append(Prediction(span, score))
        found.append(of)
    return found


def predicted_entities(
    document: Document, found: Sequence[Sequence[Prediction]], method: str, run_id: str = ""
) -> tuple[Entity, ...]:
    """Return the predictions for a document's sentences as its entities."""
    entities = []
    for sentence, of in zip(document.sentences, found, strict=True):
        for prediction in of:
            start, end = sentence.offsets(prediction.span)
            entities.append(
                Entity(
                    start,
                    end,
                    prediction.span.entity_type,
                    score=prediction.score,
                    method=method,
                    run_id=run_id,
                )
            )
    return tuple(entities)
