"""Decode probabilities into scored spans: maximal runs of one class, as in the paper."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.text import Document, Entity, Span, spans_from_classes


@dataclass(frozen=True, slots=True)
class Prediction:
    """A span that a tagger predicts, with its mean probability."""

    span: Span
    score: float  # mean probability of the span's type over its tokens


def matching_odds(probs: npt.NDArray[np.float32], entity_prior: float) -> float:
    """Return the weight of non-entity at which the share of predicted entity tokens is the prior.

    A large class weight helps a tagger learn but makes it predict too many entities. The prior,
    which needs no gold, says how many are right.
    """
    best = probs[:, 1:].max(axis=1) / np.maximum(probs[:, 0], 1e-12)
    return float(np.clip(np.quantile(best, 1 - entity_prior), 1e-6, 1e6)) if len(best) else 1.0


def weigh(probs: npt.NDArray[np.float32], odds: float) -> npt.NDArray[np.float32]:
    """Multiply the probability of non-entity by `odds` and normalize each row."""
    if odds == 1:
        return probs
    weighted = probs.copy()
    weighted[:, 0] *= odds
    weighted /= weighted.sum(axis=1, keepdims=True)
    return weighted


def predictions(
    probs: npt.NDArray[np.float32],
    bounds: npt.NDArray[np.int64],
    types: Sequence[str],
    *,
    joining: float = 0.5,
) -> list[list[Prediction]]:
    """Return the spans of each sentence; sentence i is probs[bounds[i]:bounds[i + 1]].

    A token beside a span joins it if the probability of its type is above `joining`.
    """
    classes = joined_classes(probs, bounds, joining)
    by_sentence = []
    for i in range(len(bounds) - 1):
        first, last = int(bounds[i]), int(bounds[i + 1])
        spans = []
        if classes[first:last].any():
            for span in spans_from_classes(classes[first:last], types):
                column = types.index(span.entity_type) + 1
                score = float(probs[first + span.start : first + span.end, column].mean())
                spans.append(Prediction(span, score))
        by_sentence.append(spans)
    return by_sentence


def joined_classes(
    probs: npt.NDArray[np.float32], bounds: npt.NDArray[np.int64], joining: float
) -> npt.NDArray[np.int64]:
    """Return the likeliest class of each token, or that of the entity it joins.

    >>> probs = np.array([[0.7, 0.3], [0.4, 0.6], [0.9, 0.1]], np.float32)
    >>> joined_classes(probs, np.array([0, 3]), 0.2).tolist()
    [1, 1, 0]
    """
    classes: npt.NDArray[np.int64] = probs.argmax(axis=1)
    if joining >= 0.5 or not classes.any():
        return classes
    is_first = np.zeros(len(classes) + 1, bool)
    is_first[bounds] = True
    joins = ~is_first[1:-1]  # token i + 1 may join token i, and the other way round
    _join(classes[:-1], classes[1:], probs[1:], joins, joining)
    _join(classes[1:], classes[:-1], probs[:-1], joins, joining)
    return classes


def _join(
    entities: npt.NDArray[np.int64],
    beside: npt.NDArray[np.int64],
    probs: npt.NDArray[np.float32],
    joins: npt.NDArray[np.bool_],
    joining: float,
) -> None:
    """Give tokens the class of the entity beside them, again and again as these grow.

    Both arrays are views of the same classes, one token apart.
    """
    while True:
        at = np.flatnonzero(joins & (entities > 0) & (beside == 0))
        at = at[probs[at, entities[at]] > joining]
        if not len(at):
            return
        beside[at] = entities[at]


def predicted_entities(
    document: Document, by_sentence: Sequence[Sequence[Prediction]], method: str, run_id: str = ""
) -> tuple[Entity, ...]:
    """Return the predictions for a document's sentences as entities."""
    entities = []
    for sentence, spans in zip(document.sentences, by_sentence, strict=True):
        for prediction in spans:
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
