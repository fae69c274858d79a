"""Entities become columns of numbers: what is compared by the hundred thousand is no object each.

From a run's predictions or from distant labels the columns come directly, in a fraction of the
time that as many entities take to make.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import nan

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.distant import DistantLabels
from engine.text import EntitiesByDocument, Sentence


@dataclass(frozen=True, slots=True)
class Marks:
    """Entities of one set, a row each: where, what, how sure (NaN when a set does not say)."""

    document_ids: tuple[str, ...]  # of the documents that have any
    types: tuple[str, ...]
    document: npt.NDArray[np.int64]  # index into document_ids
    start: npt.NDArray[np.int64]  # code points in the document
    end: npt.NDArray[np.int64]
    type: npt.NDArray[np.int64]  # index into types
    score: npt.NDArray[np.float64]


def marks_of_entities(entities: EntitiesByDocument) -> Marks:
    """Return the entities as columns."""
    of = list(chain.from_iterable(entities.values()))
    types = tuple(sorted({entity.entity_type for entity in of}))
    number = {name: i for i, name in enumerate(types)}
    sizes = [len(in_document) for in_document in entities.values()]
    return Marks(
        tuple(entities),
        types,
        np.repeat(np.arange(len(sizes)), sizes),
        _integers(entity.start for entity in of),
        _integers(entity.end for entity in of),
        _integers(number[entity.entity_type] for entity in of),
        np.array([nan if e.score is None else e.score for e in of], dtype=np.float64),
    )


def marks_of_labels(labels: DistantLabels, sentences: Sequence[Sentence]) -> Marks:
    """Return the kept matches as columns."""
    kept = labels.kept
    rows, first, last = (kept[name].tolist() for name in ("sentence", "start", "end"))
    of = [sentences[i] for i in rows]
    codes, ids = pd.factorize(np.array([s.document_id for s in of], dtype=object))
    starts = _integers(s.start + s.starts[i] for s, i in zip(of, first, strict=True))
    ends = _integers(
        s.start + s.starts[i - 1] + len(s.tokens[i - 1]) for s, i in zip(of, last, strict=True)
    )
    number = kept["type"].to_numpy().astype(np.int64) - 1
    scores = np.full(len(of), nan)
    return Marks(tuple(ids), labels.types, codes.astype(np.int64), starts, ends, number, scores)


def _integers(values: Iterable[int]) -> npt.NDArray[np.int64]:
    return np.fromiter(values, dtype=np.int64)
