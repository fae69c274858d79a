"""What a person decided, what a method found and what dictionaries match become one set."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine.decisions import Review
from engine.text import EntitiesByDocument, Entity


def reviewed_entities(
    review: Review, found: EntitiesByDocument, matched: EntitiesByDocument
) -> dict[str, tuple[Entity, ...]]:
    """Return one set of entities by document: review before method before dictionary.

    What was accepted is in, with the score of the method where it found the very same. What was
    rejected is out, whoever finds it. Of the rest, what a method found is in where it overlaps
    nothing accepted, and what dictionaries match where it overlaps nothing of either.
    """
    ids = dict.fromkeys((*matched, *found, *review.accepted))
    return {
        id: _merged(
            review.accepted.get(id, ()),
            {_place(entity) for entity in review.rejected.get(id, ())},
            (found.get(id, ()), matched.get(id, ())),
        )
        for id in ids
    }


_Place = tuple[int, int, str]


def _merged(
    accepted: Sequence[Entity], rejected: set[_Place], sources: Iterable[Sequence[Entity]]
) -> tuple[Entity, ...]:
    kept = _Stretches()
    merged = {_place(entity): entity for entity in accepted}
    kept.add(accepted)
    for entities in sources:
        for entity in entities:
            if (place := _place(entity)) in merged:
                merged[place] = _confirmed(merged[place], entity)
        new = [e for e in entities if _place(e) not in rejected and not kept.overlap(e)]
        merged |= {_place(entity): entity for entity in new}
        kept.add(new)
    return tuple(merged[place] for place in sorted(merged))


def _place(entity: Entity) -> _Place:
    return (entity.start, entity.end, entity.entity_type)


def _confirmed(accepted: Entity, by: Entity) -> Entity:
    """What was accepted, with what is known of the entity that it confirms."""
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


class _Stretches:
    """Stretches of one document that are taken."""

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
