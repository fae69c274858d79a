"""What several methods find becomes a queue of stretches for a person to decide on.

An item is one stretch of text under one type, with all opinions about it. Where methods disagree
about the boundaries or the type, their items overlap and stand next to each other in the queue;
accepting one of them settles the others.
"""

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from engine.text import Document, Entity

ORDERS = ("disagreement", "uncertain", "dictionary", "unseen", "random")
DICTIONARY = "dictionary"  # its silence is no opinion: what it does not know is unlabeled
EntitiesByDocument = Mapping[str, Sequence[Entity]]


class Opinion(NamedTuple):
    """What a method finds at a stretch: the same, something that overlaps it, or nothing."""

    method: str
    entity: Entity | None


@dataclass(frozen=True, slots=True)
class Item:
    """A stretch of a document that at least one method takes for an entity."""

    document_id: str
    start: int  # code points
    end: int
    text: str
    entity_type: str
    method: str  # the first of the methods, as given, that finds exactly this
    score: float | None  # that method's
    opinions: tuple[Opinion, ...]  # one a method, in the order given
    group: int  # where the stretches begin that overlap, directly or by way of others
    is_known: bool = False  # the dictionaries hold this surface

    @property
    def place(self) -> tuple[str, int, int, str]:
        return (self.document_id, self.start, self.end, self.entity_type)

    @property
    def id(self) -> str:
        """The same for the same stretch and type, whatever was trained since."""
        return f"{self.document_id}:{self.start}-{self.end}:{self.entity_type}"


# ---- items ----------------------------------------------------------------------------------


def make_items(
    documents: Iterable[Document],
    found: Mapping[str, EntitiesByDocument],
    is_known: Callable[[str], bool] = lambda surface: False,
) -> list[Item]:
    """Return all that any method finds, in text order; what overlaps stands side by side.

    `found` is by method, the most trusted first: of overlapping items, its own comes first.
    """
    methods, is_known = tuple(found), cache(is_known)  # a surface comes many times
    items = []
    for document in documents:
        for group in _groups(document, found):
            items += _items(document, group, methods, is_known)
    return items


def _groups(
    document: Document, found: Mapping[str, EntitiesByDocument]
) -> Iterator[list[tuple[int, Entity]]]:
    """The entities of all methods, with the method's rank, cut where nothing overlaps."""
    everything = sorted(
        (
            (rank, entity)
            for rank, by_document in enumerate(found.values())
            for entity in by_document.get(document.id, ())
            if entity.end <= len(document.text)  # a run may be older than the text
        ),
        key=lambda pair: (pair[1].start, pair[1].end, pair[0]),
    )
    group: list[tuple[int, Entity]] = []
    reach = 0
    for rank, entity in everything:
        if group and entity.start >= reach:
            yield group
            group = []
        group.append((rank, entity))
        reach = max(reach, entity.end)
    if group:
        yield group


def _items(
    document: Document,
    group: Sequence[tuple[int, Entity]],
    methods: Sequence[str],
    is_known: Callable[[str], bool],
) -> list[Item]:
    first: dict[tuple[int, int, str], tuple[int, Entity]] = {}
    for rank, entity in sorted(group, key=lambda pair: (pair[0], pair[1].start)):
        first.setdefault((entity.start, entity.end, entity.entity_type), (rank, entity))
    # Nearly everywhere all who find something find the same, and need not be compared.
    opinions = _same_opinions(group, methods) if len(first) == 1 else None
    items = []
    for rank, entity in first.values():
        text = document.text[entity.start : entity.end]
        items.append(
            Item(
                document.id,
                entity.start,
                entity.end,
                text,
                entity.entity_type,
                methods[rank],
                entity.score,
                opinions or _opinions(group, methods, entity),
                group[0][1].start,
                is_known(text),
            )
        )
    return items


def _same_opinions(
    group: Sequence[tuple[int, Entity]], methods: Sequence[str]
) -> tuple[Opinion, ...]:
    found = dict(group)
    return tuple(Opinion(name, found.get(rank)) for rank, name in enumerate(methods))


def _opinions(
    group: Sequence[tuple[int, Entity]], methods: Sequence[str], item: Entity
) -> tuple[Opinion, ...]:
    """For each method its entity that shares most with the item, and sticks out of it least."""

    def fit(entity: Entity) -> tuple[int, int, bool]:
        shared = min(item.end, entity.end) - max(item.start, entity.start)
        return (shared, entity.start - entity.end, entity.entity_type == item.entity_type)

    best: dict[int, Entity] = {}
    for rank, entity in group:
        overlaps = entity.start < item.end and item.start < entity.end
        if overlaps and (rank not in best or fit(entity) > fit(best[rank])):
            best[rank] = entity
    return tuple(Opinion(name, best.get(rank)) for rank, name in enumerate(methods))


# ---- orders ---------------------------------------------------------------------------------


def make_queue(items: Sequence[Item], order: str, seed: int = 0) -> list[Item]:
    """Return the items worth a person's time, the most telling first.

    disagreement: the opinions differ most.  uncertain: the lowest score.  dictionary: matches
    that the trained methods reject.  unseen: surfaces that the dictionaries lack, a different one
    each time before any comes again.  random: all, shuffled by the seed.

    The order does not depend on decisions, so that a place in it can be found again. Equals
    stand in an order of chance that is the same each time.
    """
    if order not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(ORDERS)}, got {order!r}")
    shuffled = _shuffled(items, seed)
    if order == "disagreement":
        return _ranked(shuffled, disagreement)
    if order == "uncertain":
        scored = [item for item in shuffled if item.score is not None]
        return sorted(scored, key=lambda item: item.score or 0.0)
    if order == "dictionary":
        return _doubtful_matches(shuffled)
    if order == "unseen":
        return _by_surface([item for item in shuffled if not item.is_known])
    return shuffled


def disagreement(item: Item) -> float:
    """Return the entropy of the opinions in bits: 0 when all agree, 1 for one against one."""
    votes = [
        entity and (entity.start, entity.end, entity.entity_type)
        for method, entity in item.opinions
        if entity is not None or method != DICTIONARY
    ]
    distinct = set(votes)
    if len(distinct) < 2:
        return 0.0
    shares = [votes.count(vote) / len(votes) for vote in distinct]
    return -sum(share * math.log2(share) for share in shares)


def rejections(item: Item) -> float:
    """Return the share of trained methods that find nothing of the item's type here."""
    models = [opinion for opinion in item.opinions if opinion.method != DICTIONARY]
    against = sum(o.entity is None or o.entity.entity_type != item.entity_type for o in models)
    return against / len(models) if models else 0.0


def lot(place: tuple[object, ...], seed: int) -> bytes:
    """Return what to sort by for an order of chance that is the same each time."""
    return hashlib.sha256(repr((seed, place)).encode()).digest()


def _shuffled(items: Sequence[Item], seed: int) -> list[Item]:
    """By lots drawn for each group, so that stretches that overlap stay together."""
    lots: dict[tuple[str, int], bytes] = {}
    for item in items:
        place = (item.document_id, item.group)
        if place not in lots:
            lots[place] = lot(place, seed)
    return sorted(items, key=lambda item: lots[item.document_id, item.group])


def _ranked(items: Sequence[Item], worth: Callable[[Item], float]) -> list[Item]:
    """The groups that are worth anything, by their best item; a group stays together."""
    best: defaultdict[tuple[str, int], float] = defaultdict(float)
    for item in items:
        place = (item.document_id, item.group)
        best[place] = max(best[place], worth(item))
    kept = [item for item in items if best[item.document_id, item.group] > 0]
    return sorted(kept, key=lambda item: -best[item.document_id, item.group])


def _doubtful_matches(items: Sequence[Item]) -> list[Item]:
    """Dictionary matches that most methods reject; among equals, phrases rejected everywhere."""
    matches = [(item, rejections(item)) for item in items if _is_match(item)]
    by_phrase: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for item, rejected in matches:
        by_phrase[item.text.casefold(), item.entity_type].append(rejected)

    def worth(match: tuple[Item, float]) -> tuple[float, float]:
        item, rejected = match
        of_phrase = by_phrase[item.text.casefold(), item.entity_type]
        return (rejected, sum(of_phrase) / len(of_phrase))

    doubtful = sorted((match for match in matches if match[1] > 0), key=worth, reverse=True)
    return [item for item, _ in doubtful]


def _is_match(item: Item) -> bool:
    """Whether the dictionary has exactly this stretch under this type."""
    place = (item.start, item.end, item.entity_type)
    return any(
        method == DICTIONARY
        and entity is not None
        and (entity.start, entity.end, entity.entity_type) == place
        for method, entity in item.opinions
    )


def _by_surface(items: Sequence[Item]) -> list[Item]:
    """The surface with the most and surest finds first; each once before any comes again."""
    by_surface: defaultdict[str, list[Item]] = defaultdict(list)
    for item in items:
        by_surface[item.text.casefold()].append(item)
    weights = {surface: sum(item.score or 0.0 for item in of) for surface, of in by_surface.items()}
    ranked = sorted(by_surface, key=lambda surface: (-weights[surface], surface))
    rounds = max(map(len, by_surface.values()), default=0)
    return [
        by_surface[surface][i]
        for i in range(rounds)
        for surface in ranked
        if i < len(by_surface[surface])
    ]
