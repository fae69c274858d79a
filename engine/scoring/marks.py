"""Hold entities as columns of numbers, to compare hundreds of thousands of them quickly.

Columns are made directly from a file of predictions or from distant labels, in a fraction of the
time that making the same number of `Entity` objects takes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import nan

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.labels import DistantLabels
from engine.text import EntitiesByDocument, Sentence, Span


@dataclass(frozen=True, slots=True)
class Marks:
    """Entities of one set, one row each: place, type and score (NaN if the set has none)."""

    document_ids: tuple[str, ...]  # of the documents with entities
    types: tuple[str, ...]
    document: npt.NDArray[np.int64]  # index into document_ids
    start: npt.NDArray[np.int64]  # code points in the document
    end: npt.NDArray[np.int64]
    type: npt.NDArray[np.int64]  # index into types
    score: npt.NDArray[np.float64]


def marks_of_entities(entities: EntitiesByDocument) -> Marks:
    """Return the entities as columns."""
    flat = list(chain.from_iterable(entities.values()))
    types = tuple(sorted({entity.entity_type for entity in flat}))
    number = {name: i for i, name in enumerate(types)}
    sizes = [len(in_document) for in_document in entities.values()]
    return Marks(
        tuple(entities),
        types,
        np.repeat(np.arange(len(sizes)), sizes),
        _integers(entity.start for entity in flat),
        _integers(entity.end for entity in flat),
        _integers(number[entity.entity_type] for entity in flat),
        np.array([nan if e.score is None else e.score for e in flat], dtype=np.float64),
    )


def marks_of_labels(labels: DistantLabels, sentences: Sequence[Sentence]) -> Marks:
    """Return the kept matches as columns."""
    kept = labels.kept
    rows, first, last = (kept[name].tolist() for name in ("sentence", "start", "end"))
    matched = [sentences[i] for i in rows]
    codes, ids = pd.factorize(np.array([s.document_id for s in matched], dtype=object))
    places = [s.offsets(Span(a, b, "match")) for s, a, b in zip(matched, first, last, strict=True)]
    starts, ends = (_integers(place[i] for place in places) for i in (0, 1))
    number = kept["type"].to_numpy().astype(np.int64) - 1
    scores = np.full(len(matched), nan)
    return Marks(tuple(ids), labels.types, codes.astype(np.int64), starts, ends, number, scores)


def _integers(values: Iterable[int]) -> npt.NDArray[np.int64]:
    return np.fromiter(values, dtype=np.int64)
