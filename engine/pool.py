"""Entity sets of several methods become one pool of places: who marks what, side by side."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.text import Document, Entity, entities_from_spans, spans_from_entities

EntitiesByDocument = Mapping[str, Sequence[Entity]]


@dataclass(frozen=True, slots=True)
class Pool:
    """Every place that a set marks, once, in reading order, and which of the sets mark it.

    A place is a stretch of a document with a type; two sets agree on it only when both are equal.
    """

    names: tuple[str, ...]  # of the sets, in the order of the columns below
    types: tuple[str, ...]
    document_ids: tuple[str, ...]
    sentence_count: int
    # One row a place: document (number), sentence (number in the corpus), start, end (code points
    # in the document), position (code points in all documents end to end), type (0 = types[0]).
    places: pd.DataFrame
    found: npt.NDArray[np.bool_]  # (places, sets)
    scores: npt.NDArray[np.float64]  # (places, sets); NaN where a set gives none
    dropped: Mapping[str, int] = field(default_factory=dict)  # by set: entities outside the texts

    def column(self, name: str) -> npt.NDArray[np.bool_]:
        """Return which places this set marks."""
        return self.found[:, self.names.index(name)]

    def of_type(self, types: Collection[str]) -> npt.NDArray[np.bool_]:
        """Return which places are of one of these types."""
        wanted = np.array([name in types for name in self.types], dtype=bool)
        kept: npt.NDArray[np.bool_] = wanted[self.places["type"].to_numpy()]
        return kept


def pool_entities(documents: Sequence[Document], sets: Mapping[str, EntitiesByDocument]) -> Pool:
    """Return the pool of the sets' entities.

    What lies outside the documents (a run may be older than the text) is left out and counted.
    """
    gathered = _gather(documents, sets)
    order = np.lexsort(gathered.rows.T[::-1])
    rows = gathered.rows[order]
    is_new = np.ones(len(rows), dtype=bool)
    is_new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    place_of = np.cumsum(is_new) - 1
    count = int(is_new.sum())
    found = np.zeros((count, len(sets)), dtype=bool)
    scores = np.full((count, len(sets)), np.nan)
    set_of = gathered.set_of[order]
    found[place_of, set_of] = True
    scores[place_of, set_of] = gathered.scores[order]
    places, sentence_count = _places(documents, rows[is_new])
    return Pool(
        tuple(sets),
        gathered.types,
        tuple(document.id for document in documents),
        sentence_count,
        places,
        found,
        scores,
        {name: count for name, count in gathered.dropped.items() if count},
    )


def on_tokens(
    documents: Iterable[Document], entities: EntitiesByDocument
) -> dict[str, tuple[Entity, ...]]:
    """Return the entities widened to whole tokens, without overlaps, as strict scores need them."""
    fitted = {}
    for document in documents:
        of = entities.get(document.id)
        if of is None:
            continue
        if _are_on_tokens(document, of):  # nearly always, and checked in a third of the time
            fitted[document.id] = tuple(of)
            continue
        spans = spans_from_entities(document, of).spans
        fitted[document.id] = tuple(
            entity
            for sentence, in_it in zip(document.sentences, spans, strict=True)
            for entity in entities_from_spans(sentence, in_it, "gold")
        )
    return fitted


def _are_on_tokens(document: Document, entities: Sequence[Entity]) -> bool:
    """Whether each entity begins and ends with tokens of one sentence, and none overlap."""
    sentence_starts = [sentence.start for sentence in document.sentences]
    reach = 0
    for entity in sorted(entities, key=lambda entity: entity.start):
        i = bisect_right(sentence_starts, entity.start) - 1
        if i < 0 or entity.start < reach:
            return False
        sentence = document.sentences[i]
        start, end = entity.start - sentence.start, entity.end - sentence.start
        first = bisect_left(sentence.starts, start)
        last = bisect_left(sentence.starts, end) - 1
        if (
            first > last
            or sentence.starts[first] != start
            or sentence.starts[last] + len(sentence.tokens[last]) != end
        ):
            return False
        reach = entity.end
    return True


def choose(pool: Pool, names: Sequence[str]) -> Pool:
    """Return these sets of the pool, in this order, and only the places that they mark."""
    columns = [pool.names.index(name) for name in names]
    chosen = replace(
        pool,
        names=tuple(names),
        found=pool.found[:, columns],
        scores=pool.scores[:, columns],
    )
    return keep_places(chosen, np.asarray(chosen.found.any(axis=1)))


def within(pool: Pool, document_ids: Collection[str]) -> Pool:
    """Return the pool's places in these documents."""
    wanted = np.array([id in document_ids for id in pool.document_ids], dtype=bool)
    return keep_places(pool, wanted[pool.places["document"].to_numpy()])


def keep_places(pool: Pool, kept: npt.NDArray[np.bool_]) -> Pool:
    """Return the pool with these places only."""
    return replace(
        pool,
        places=pool.places.loc[kept].reset_index(drop=True),
        found=pool.found[kept],
        scores=pool.scores[kept],
    )


# ---- making a pool --------------------------------------------------------------------------


class _Gathered(NamedTuple):
    """All entities of all sets as columns, end to end."""

    types: tuple[str, ...]
    rows: npt.NDArray[np.int64]  # (entities, 4): document, start, end, type
    set_of: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]
    dropped: dict[str, int]


def _gather(documents: Sequence[Document], sets: Mapping[str, EntitiesByDocument]) -> _Gathered:
    number = {document.id: i for i, document in enumerate(documents)}
    lengths = np.array([*(len(document.text) for document in documents), -1])  # -1: no document
    entities = {name: list(chain.from_iterable(of.values())) for name, of in sets.items()}
    types = tuple(sorted({e.entity_type for of in entities.values() for e in of}))
    type_number = {name: i for i, name in enumerate(types)}
    parts, dropped = [], {}
    for k, (name, of) in enumerate(entities.items()):
        sizes = [len(in_document) for in_document in sets[name].values()]
        ids = [number.get(id, -1) for id in sets[name]]
        rows = np.empty((len(of), 6))  # document, start, end, type, set, score
        rows[:, 0] = np.repeat(np.array(ids, dtype=np.int64), sizes)
        rows[:, 1], rows[:, 2] = [e.start for e in of], [e.end for e in of]
        rows[:, 3], rows[:, 4] = [type_number[e.entity_type] for e in of], k
        rows[:, 5] = [math.nan if e.score is None else e.score for e in of]
        is_inside = rows[:, 2] <= lengths[rows[:, 0].astype(np.int64)]
        dropped[name] = int(len(of) - is_inside.sum())
        parts.append(rows[is_inside])
    table = np.concatenate(parts) if parts else np.empty((0, 6))
    return _Gathered(
        types,
        table[:, :4].astype(np.int64),
        table[:, 4].astype(np.int64),
        table[:, 5],
        dropped,
    )


def _places(documents: Sequence[Document], rows: npt.NDArray[np.int64]) -> tuple[pd.DataFrame, int]:
    """The table of places, with the sentence that each begins in; how many sentences there are."""
    bases = np.zeros(len(documents) + 1, dtype=np.int64)
    np.cumsum([len(document.text) + 1 for document in documents], out=bases[1:])
    starts = np.array(
        [
            base + sentence.start
            for base, document in zip(bases.tolist(), documents, strict=False)
            for sentence in document.sentences
        ],
        dtype=np.int64,
    )
    position = bases[rows[:, 0]] + rows[:, 1]
    # White space before the first sentence of all belongs to that sentence.
    sentence = np.maximum(np.searchsorted(starts, position, side="right") - 1, 0)
    columns = {
        "document": rows[:, 0],
        "sentence": sentence,
        "start": rows[:, 1],
        "end": rows[:, 2],
        "position": position,
        "type": rows[:, 3],
    }
    return pd.DataFrame(columns), len(starts)
