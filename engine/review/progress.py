"""Tell which items of a review queue are left, and how many are decided."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.review.decisions import Decision
from engine.review.items import Item


@dataclass(frozen=True, slots=True)
class ReviewProgress:
    """How many items of a queue are decided, and how."""

    total: int
    done: int = 0  # including items settled by a decision about an overlapping one
    accepted: int = 0
    rejected: int = 0
    edited: int = 0
    skipped: int = 0

    @property
    def accepted_share(self) -> float | None:
        """The share of accepted items among those judged; None before the first."""
        judged = self.accepted + self.rejected + self.edited
        return self.accepted / judged if judged else None


def pending(
    queue: Iterable[Item], decisions: Iterable[Decision], *, with_skipped: bool = False
) -> list[Item]:
    """Return the items that no decision settles, in the queue's order."""
    by_document = _by_document(decisions)
    return [
        item
        for item in queue
        if not any(
            _settles(decision, item) and not (with_skipped and decision.verdict == "skipped")
            for decision in by_document.get(item.document_id, ())
        )
    ]


def measure_progress(queue: Sequence[Item], decisions: Iterable[Decision]) -> ReviewProgress:
    """Count the decided items of the queue by verdict."""
    by_document = _by_document(decisions)
    done = 0
    verdicts: Counter[str] = Counter()
    for item in queue:
        settled = [d for d in by_document.get(item.document_id, ()) if _settles(d, item)]
        done += bool(settled)
        own = [d.verdict for d in settled if d.place == item.place]
        verdicts.update(own[-1:])
    return ReviewProgress(
        len(queue),
        done,
        *(verdicts[name] for name in ("accepted", "rejected", "edited", "skipped")),
    )


def acceptable(queue: Iterable[Item], least_score: float = 0.0) -> list[Item]:
    """Return items with at least this score that do not overlap, so all can be accepted."""
    chosen: dict[str, list[Item]] = {}
    for item in queue:
        others = chosen.setdefault(item.document_id, [])
        is_sure = item.score is not None and item.score >= least_score
        if is_sure and not any(item.start < o.end and o.start < item.end for o in others):
            others.append(item)
    return [item for items in chosen.values() for item in items]


def phrase_history(surface: str, decisions: Iterable[Decision]) -> Counter[str]:
    """Count the verdicts on this phrase, in any letter case and at any place."""
    wanted = surface.casefold()
    return Counter(d.verdict for d in decisions if d.surface.casefold() == wanted)


def _by_document(decisions: Iterable[Decision]) -> dict[str, list[Decision]]:
    by_document: dict[str, list[Decision]] = {}
    for decision in decisions:
        by_document.setdefault(decision.document_id, []).append(decision)
    return by_document


def _settles(decision: Decision, item: Item) -> bool:
    """Return whether the decision leaves nothing to ask about the item.

    An accepted or edited entity settles every item that it overlaps. A rejection settles only the
    rejected item: other boundaries or another type may still be right.
    """
    if decision.verdict == "unsure":
        return False
    if decision.place == item.place or decision.verdict in ("rejected", "skipped"):
        return decision.place == item.place
    start = decision.start if decision.new_start is None else decision.new_start
    end = decision.end if decision.new_end is None else decision.new_end
    return start < item.end and item.start < end
