"""Pool the entity sets of several methods, to see which method marks which place."""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.scoring.marks import Marks, marks_of_entities
from engine.text import (
    Document,
    EntitiesByDocument,
    Entity,
    entities_from_spans,
    spans_from_entities,
)


@dataclass(frozen=True, slots=True)
class Pool:
    """Every place that a set marks, once, in reading order, and which sets mark it.

    A place is a stretch of a document with a type; sets agree on it only if both are equal.
    """

    names: tuple[str, ...]  # of the sets, in the order of the columns below
    types: tuple[str, ...]
    document_ids: tuple[str, ...]
    sentence_count: int
    # One row per place: document (number), sentence (number in the corpus), start, end (code points
    # in the document), position (code points in all documents end to end), type (0 = types[0]).
    places: pd.DataFrame
    is_marked: npt.NDArray[np.bool_]  # (places, sets): whether the set marks the place
    scores: npt.NDArray[np.float64]  # (places, sets); NaN where a set has none
    dropped: Mapping[str, int] = field(default_factory=dict)  # by set: entities outside the texts

    def column(self, name: str) -> npt.NDArray[np.bool_]:
        """Return which places this set marks."""
        return self.is_marked[:, self.names.index(name)]

    def of_type(self, types: Collection[str]) -> npt.NDArray[np.bool_]:
        """Return which places are of one of these types."""
        wanted = np.array([name in types for name in self.types], dtype=bool)
        kept: npt.NDArray[np.bool_] = wanted[self.places["type"].to_numpy()]
        return kept


def pool_entities(
    documents: Sequence[Document], sets: Mapping[str, EntitiesByDocument | Marks]
) -> Pool:
    """Return the pool of the sets' entities, given by document or as columns.

    Entities outside the documents (a run can be older than the text) are left out and counted.
    """
    marks = {
        name: entities if isinstance(entities, Marks) else marks_of_entities(entities)
        for name, entities in sets.items()
    }
    gathered = _gather(documents, marks)
    order = np.lexsort(gathered.rows.T[::-1])
    rows = gathered.rows[order]
    is_new = np.ones(len(rows), dtype=bool)
    is_new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    place_of = np.cumsum(is_new) - 1
    count = int(is_new.sum())
    is_marked = np.zeros((count, len(sets)), dtype=bool)
    scores = np.full((count, len(sets)), np.nan)
    set_of = gathered.set_of[order]
    is_marked[place_of, set_of] = True
    scores[place_of, set_of] = gathered.scores[order]
    places, sentence_count = _places(documents, rows[is_new])
    return Pool(
        tuple(sets),
        gathered.types,
        tuple(document.id for document in documents),
        sentence_count,
        places,
        is_marked,
        scores,
        {name: count for name, count in gathered.dropped.items() if count},
    )


def on_tokens(
    documents: Iterable[Document], entities: EntitiesByDocument
) -> dict[str, tuple[Entity, ...]]:
    """Return the entities widened to whole tokens, without overlaps, as strict scores need."""
    fitted = {}
    for document in documents:
        in_document = entities.get(document.id)
        if in_document is None:
            continue
        if _are_on_tokens(document, in_document):  # the usual case, and three times as fast
            fitted[document.id] = tuple(in_document)
            continue
        spans = spans_from_entities(document, in_document).spans
        fitted[document.id] = tuple(
            entity
            for sentence, in_it in zip(document.sentences, spans, strict=True)
            for entity in entities_from_spans(sentence, in_it, "gold")
        )
    return fitted


def _are_on_tokens(document: Document, entities: Sequence[Entity]) -> bool:
    """Return whether each entity is whole tokens of one sentence, and none overlap."""
    layout, reach = document.layout, 0
    for entity in sorted(entities, key=lambda entity: entity.start):
        tokens = layout.touched(entity.start, entity.end)
        if not tokens or entity.start < reach:
            return False
        first, last = tokens[0], tokens[-1]
        if layout.tokens[2 * first] != entity.start or layout.tokens[2 * last + 1] != entity.end:
            return False
        if bisect_right(layout.sentences, first) != bisect_right(layout.sentences, last):
            return False
        reach = entity.end
    return True


def choose(pool: Pool, names: Sequence[str]) -> Pool:
    """Return a pool of these sets only, in this order, with the places that they mark."""
    columns = [pool.names.index(name) for name in names]
    chosen = replace(
        pool,
        names=tuple(names),
        is_marked=pool.is_marked[:, columns],
        scores=pool.scores[:, columns],
    )
    return keep_places(chosen, np.asarray(chosen.is_marked.any(axis=1)))


def within(pool: Pool, document_ids: Collection[str]) -> Pool:
    """Return a pool of the places in these documents only."""
    wanted = np.array([id in document_ids for id in pool.document_ids], dtype=bool)
    return keep_places(pool, wanted[pool.places["document"].to_numpy()])


def keep_places(pool: Pool, kept: npt.NDArray[np.bool_]) -> Pool:
    """Return a pool of these places only."""
    return replace(
        pool,
        places=pool.places.loc[kept].reset_index(drop=True),
        is_marked=pool.is_marked[kept],
        scores=pool.scores[kept],
    )


# ---- making a pool --------------------------------------------------------------------------


class _Gathered(NamedTuple):
    """The entities of all sets as columns, concatenated."""

    types: tuple[str, ...]
    rows: npt.NDArray[np.int64]  # (entities, 4): document, start, end, type
    set_of: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]
    dropped: dict[str, int]


def _gather(documents: Sequence[Document], sets: Mapping[str, Marks]) -> _Gathered:
    number = {document.id: i for i, document in enumerate(documents)}
    lengths = np.array([*(len(document.text) for document in documents), -1])  # -1: no document
    types = tuple(sorted({name for marks in sets.values() for name in _used_types(marks)}))
    type_number = {name: i for i, name in enumerate(types)}
    rows, set_of, scores, dropped = [np.empty((0, 4), np.int64)], [], [np.empty(0)], {}
    for k, (name, marks) in enumerate(sets.items()):
        document = _translate([number.get(id, -1) for id in marks.document_ids], marks.document)
        type_of = _translate(
            [type_number.get(type_name, -1) for type_name in marks.types], marks.type
        )
        is_inside = marks.end <= lengths[document]
        dropped[name] = int(len(is_inside) - is_inside.sum())
        rows.append(np.stack([document, marks.start, marks.end, type_of], axis=1)[is_inside])
        set_of.append(np.full(int(is_inside.sum()), k))
        scores.append(marks.score[is_inside])
    return _Gathered(
        types,
        np.concatenate(rows),
        np.concatenate([np.empty(0, np.int64), *set_of]),
        np.concatenate(scores),
        dropped,
    )


def _used_types(marks: Marks) -> list[str]:
    return [marks.types[i] for i in np.unique(marks.type).tolist()]


def _translate(codes: Sequence[int], numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.array(codes, dtype=np.int64)[numbers]


def _places(documents: Sequence[Document], rows: npt.NDArray[np.int64]) -> tuple[pd.DataFrame, int]:
    """Return the table of places, with the sentence of each, and the number of sentences."""
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
    # White space before the very first sentence belongs to that sentence.
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
