"""Merge review decisions, what a method found and dictionary matches into one set."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine.review.decisions import Review
from engine.text import EntitiesByDocument, Entity


def reviewed_entities(
    review: Review, predicted: EntitiesByDocument, matched: EntitiesByDocument
) -> dict[str, tuple[Entity, ...]]:
    """Return one set of entities by document: review before method before dictionary.

    Accepted entities are in, with the method's score if it found the same entity. Rejected ones are
    out, whoever finds them. An entity of the method is in if it overlaps no accepted one; a match
    is in if it overlaps none of either.
    """
    ids = dict.fromkeys((*matched, *predicted, *review.accepted))
    return {
        id: _merged(
            review.accepted.get(id, ()),
            {_place(entity) for entity in review.rejected.get(id, ())},
            (predicted.get(id, ()), matched.get(id, ())),
        )
        for id in ids
    }


_Place = tuple[int, int, str]


def _merged(
    accepted: Sequence[Entity], rejected: set[_Place], sources: Iterable[Sequence[Entity]]
) -> tuple[Entity, ...]:
    taken = _TakenSpans()
    merged = {_place(entity): entity for entity in accepted}
    taken.add(accepted)
    for entities in sources:
        for entity in entities:
            if (place := _place(entity)) in merged:
                merged[place] = _confirmed(merged[place], entity)
        new = [e for e in entities if _place(e) not in rejected and not taken.overlap(e)]
        merged |= {_place(entity): entity for entity in new}
        taken.add(new)
    return tuple(merged[place] for place in sorted(merged))


def _place(entity: Entity) -> _Place:
    return (entity.start, entity.end, entity.entity_type)


def _confirmed(accepted: Entity, by: Entity) -> Entity:
    """Return the accepted entity with what is known about the one that it confirms."""
    if accepted.method != "review":
        return accepted
    return replace(
        accepted,
        score=by.score if accepted.score is None else accepted.score,
        in_dictionary=by.in_dictionary if accepted.in_dictionary is None else True,
        matched_phrase=accepted.matched_phrase or by.matched_phrase,
        canonical_id=accepted.canonical_id or by.canonical_id,
        run_id=accepted.run_id or by.run_id,
    )


class _TakenSpans:
    """The spans of one document that are already taken."""

    def __init__(self) -> None:
        self._taken: list[tuple[int, int]] = []
        self._longest = 0

    def add(self, entities: Iterable[Entity]) -> None:
        for entity in entities:
            insort(self._taken, (entity.start, entity.end))
            self._longest = max(self._longest, entity.end - entity.start)

    def overlap(self, entity: Entity) -> bool:
        first = bisect_left(self._taken, (entity.start - self._longest, 0))
        last = bisect_left(self._taken, (entity.end, 0))
        return any(end > entity.start for _, end in self._taken[first:last])
