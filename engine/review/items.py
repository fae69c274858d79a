"""Turn what several methods find into items for a person to decide on, stored as columns.

An item is one span of text with one type, and every method's opinion of it. Where methods disagree
about boundaries or type, their items overlap and form a group; accepting one of them settles the
others. A large text has a hundred thousand items, of which a person sees a few, so an `Item` is
built from the columns only when it is needed.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engine.scoring import Marks, Pool, pool_entities
from engine.text import Document, EntitiesByDocument, Entity

DICTIONARY = "dictionary"  # finds nothing: no opinion, since unknown phrases are just unlabeled
Numbers = npt.NDArray[np.int64]


class Opinion(NamedTuple):
    """What a method finds at an item: the same entity, one that overlaps it, or none."""

    method: str
    entity: Entity | None


@dataclass(frozen=True, slots=True)
class Item:
    """A span of a document that at least one method takes for an entity."""

    document_id: str
    start: int  # code points
    end: int
    text: str
    entity_type: str
    method: str  # the most trusted method that finds exactly this
    score: float | None  # that method's
    opinions: tuple[Opinion, ...]  # one per method, the most trusted first
    group: int  # where the group begins: items that overlap directly or through others

    @property
    def place(self) -> tuple[str, int, int, str]:
        return (self.document_id, self.start, self.end, self.entity_type)

    @property
    def id(self) -> str:
        """Depends only on the span and its type, so it stays the same after another training."""
        return f"{self.document_id}:{self.start}-{self.end}:{self.entity_type}"


@dataclass(frozen=True, slots=True)
class Items:
    """All items in text order; a group stays together, the most trusted method's item first."""

    documents: tuple[Document, ...]
    methods: tuple[str, ...]
    types: tuple[str, ...]
    # From here on: one row per item.
    document: Numbers  # index into documents
    start: Numbers  # code points
    end: Numbers
    type: Numbers  # index into types
    method: Numbers  # index of the most trusted method that finds exactly this
    group: Numbers  # 0, 1, 2, …
    group_start: Numbers  # where its group begins
    opinions: Numbers  # (items, methods): the item that each method finds here, -1 for nothing
    scores: npt.NDArray[np.float64]  # (items, methods): NaN where a method gives none

    def __len__(self) -> int:
        return len(self.start)

    def __iter__(self) -> Iterator[Item]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, i: int) -> Item:
        document = self.documents[self.document[i]]
        opinions = tuple(
            Opinion(self.methods[method], self._entity(other, method))
            for method, other in enumerate(self.opinions[i].tolist())
        )
        own = opinions[self.method[i]].entity
        assert own is not None
        return Item(
            document.id,
            own.start,
            own.end,
            document.text[own.start : own.end],
            own.entity_type,
            own.method,
            own.score,
            opinions,
            int(self.group_start[i]),
        )

    def _entity(self, i: int, method: int) -> Entity | None:
        if i < 0:
            return None
        score = float(self.scores[i, method])
        return Entity(
            int(self.start[i]),
            int(self.end[i]),
            self.types[self.type[i]],
            None if math.isnan(score) else score,
            self.methods[method],
        )

    def texts(self) -> npt.NDArray[np.object_]:
        """Return the words of every item."""
        places = zip(self.document.tolist(), self.start.tolist(), self.end.tolist(), strict=True)
        texts = (self.documents[d].text[start:end] for d, start, end in places)
        return np.fromiter(texts, object, len(self))

    def folded_texts(self) -> npt.NDArray[np.object_]:
        """Return the words of every item, case-folded."""
        return np.fromiter(map(str.casefold, self.texts()), object, len(self))


def make_items(
    documents: Iterable[Document], sets: Mapping[str, EntitiesByDocument | Marks]
) -> Items:
    """Return one item per span and type that any method finds.

    `sets` holds the entities by method, the most trusted first. Entities outside the documents are
    left out: a run may be older than the text.
    """
    texts = tuple(documents)
    pool = pool_entities(texts, sets)
    first = pool.is_marked.argmax(axis=1) if pool.names else np.zeros(0, np.int64)
    group = _groups(pool)
    order = np.lexsort((pool.places["start"], first, group))  # ties: the shorter one first
    start, end, number = (pool.places[name].to_numpy()[order] for name in ("start", "end", "type"))
    group = group[order]
    begins = np.flatnonzero(np.diff(group, prepend=-1))
    group_start = np.minimum.reduceat(start, begins) if len(begins) else start
    is_found = pool.is_marked[order]
    return Items(
        texts,
        pool.names,
        pool.types,
        pool.places["document"].to_numpy()[order],
        start,
        end,
        number,
        first[order],
        group,
        group_start[group],
        _opinions(is_found, _pairs(start, end, number, group)),
        pool.scores[order],
    )


def count_finds(items: Items, rows: Numbers) -> tuple[int, int]:
    """Return the number of places where these items begin, and the number of documents."""
    places = np.unique(np.stack([items.document[rows], items.start[rows]]), axis=1)
    return places.shape[1], len(np.unique(places[0]))


# ---- groups and opinions --------------------------------------------------------------------


def _groups(pool: Pool) -> Numbers:
    """Return the group number of each place; a group ends where no span crosses."""
    start = pool.places["position"].to_numpy()
    end = start + (pool.places["end"] - pool.places["start"]).to_numpy()
    is_first = np.ones(len(start), bool)
    is_first[1:] = start[1:] >= np.maximum.accumulate(end)[:-1]
    return np.cumsum(is_first) - 1


def _pairs(
    start: Numbers, end: Numbers, number: Numbers, group: Numbers
) -> tuple[Numbers, Numbers]:
    """Return all pairs of items that overlap, including each item with itself.

    Sorted by the first item, then by how well the second fits it: the most shared characters, then
    the shortest span, then the same type.
    """
    sizes = np.bincount(group) if len(group) else np.zeros(0, np.int64)
    size = sizes[group]
    one = np.repeat(np.arange(len(group)), size)
    within = np.arange(len(one)) - np.repeat(np.cumsum(size) - size, size)
    other = (np.cumsum(sizes) - sizes)[group[one]] + within
    shared = np.minimum(end[one], end[other]) - np.maximum(start[one], start[other])
    overlap = shared > 0
    one, other, shared = one[overlap], other[overlap], shared[overlap]
    is_other_type = number[one] != number[other]
    keys = (end[other], start[other], is_other_type, end[other] - start[other], -shared, one)
    order = np.lexsort(keys)
    return one[order], other[order]


def _opinions(is_found: npt.NDArray[np.bool_], pairs: tuple[Numbers, Numbers]) -> Numbers:
    """Return, per item and method, the best fitting item that the method finds; -1 for none."""
    one, other = pairs
    opinions = np.full(is_found.shape, -1, np.int64)
    for method in range(is_found.shape[1]):
        theirs = is_found[other, method]
        own, fit = one[theirs], other[theirs]
        is_best = np.diff(own, prepend=-1) > 0
        opinions[own[is_best], method] = fit[is_best]
    return opinions
