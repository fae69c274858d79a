"""Say in a sentence or two which method to take and why, in words that need no statistics.

With gold: what the best method finds and how much of it is right, and whether the next one could be
as good. Without gold nobody knows how right a method is, so nothing here looks like a score: only
how much of the dictionary it keeps, what it adds, and how far the methods agree. If phrases were
hidden to compare the methods, these choose between them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.scoring import (
    ALL_TYPES,
    HIDDEN_CAUTION,
    FoundAgain,
    Pool,
    Scored,
    are_comparable,
    best_of,
    difference,
    epochs_advice,
    is_surely_more,
    score_table,
)

_SURE = 0.975  # of the resamples; what the page Two runs calls unlikely to be chance
_FEW_GOLD = 100  # entities; below, a figure is rough
_LEAST_KEPT = (
    0.5  # of the dictionary's matches; a method that keeps less has learned something else
)
_LOW_AGREEMENT = 0.5
_FEW_JUDGED = 20


@dataclass(frozen=True, slots=True)
class Story:
    """Which method to take, why, and what to be careful about."""

    method: str | None  # the name as it was given; None if none can be recommended
    text: str
    caution: str = ""

    def __str__(self) -> str:
        return f"{self.text} {self.caution}".strip()


# ---- with gold ------------------------------------------------------------------------------


def story_with_gold(
    scored: Scored, trained: Sequence[str], dictionary: str | None = None
) -> Story | None:
    """Return the story of sets that were scored against gold; None if the gold has no entities.

    `trained` are the names of the methods to choose from, the most trusted first: without those
    that learned from the gold. `dictionary` is the name of the dictionary's own matches.
    """
    gold = int(scored.counts[:, -1, 2].max(initial=0))
    if not gold or not trained:
        return None if trained else _nothing_trained()
    table = score_table(scored)
    table = table[table["entity_type"] == ALL_TYPES].set_index("name").fillna(0.0)
    precision, recall, f1 = (
        dict(zip(table.index, table[share].tolist(), strict=True))
        for share in ("precision", "recall", "f1")
    )
    ranked = sorted(trained, key=lambda name: -f1[name])  # stable: the more trusted first
    best = ranked[0]
    caution = "" if gold >= _FEW_GOLD else f"There are only {gold:,} gold entities: a rough guide."
    if not f1[best]:
        text = "No trained method finds an entity of the gold. Check that both name the same types."
        return Story(None, text, caution)
    why = (
        f"it finds {round(100 * recall[best])} of 100 entities, and "
        f"{round(100 * precision[best])} of 100 that it marks are right "
        f"(F1 {100 * f1[best]:.1f})"
    )
    if dictionary is not None and f1[dictionary] >= f1[best]:
        text = (
            f"Keep the dictionary for now (F1 {100 * f1[dictionary]:.1f}): no trained method is "
            f"better. The best of them is {best}: {why}."
        )
        return Story(dictionary, text, caution)
    text = f"Take {best}: {why}"
    if dictionary is not None:
        text += _beside_dictionary(scored, best, dictionary, recall[dictionary])
    text += "."
    if len(ranked) > 1:
        text += f" {_beside_next(scored, best, ranked[1], f1[ranked[1]])}"
    return Story(best, text, caution)


def _beside_dictionary(scored: Scored, best: str, dictionary: str, recall: float) -> str:
    if _surely_better(scored, dictionary, best):
        return f". The dictionary alone finds {round(100 * recall)} of 100"
    return f". That it beats the dictionary, which finds {round(100 * recall)}, may be chance"


def _beside_next(scored: Scored, best: str, second: str, f1: float) -> str:
    if _surely_better(scored, second, best):
        return f"{second} comes next (F1 {100 * f1:.1f}), and the difference is hardly chance."
    return f"{second} may be as good (F1 {100 * f1:.1f}): this gold cannot tell them apart."


def _surely_better(scored: Scored, before: str, after: str) -> bool:
    table = difference(scored, before, after)
    better = dict(zip(table["share"], table["better"].tolist(), strict=True))
    return bool(better["f1"] >= _SURE)


# ---- without gold ---------------------------------------------------------------------------


def story_without_gold(
    pool: Pool,
    trained: Sequence[str],
    dictionary: str | None = None,
    judged: Mapping[str, tuple[int, int]] | None = None,
    hidden: Mapping[str, FoundAgain] | None = None,
) -> Story:
    """Return the story of sets that nothing can be scored against.

    `trained` are the names of the methods, the most trusted first. `judged` tells how many entities
    of each a person judged, and how many of them are right; `hidden` what those that were compared
    on hidden phrases found again.
    """
    if not trained:
        return _nothing_trained()
    kept = {name: _kept_share(pool, name, dictionary) for name in trained}
    usable = [
        name
        for name in trained
        if pool.column(name).any() and (kept[name] is None or (kept[name] or 0) >= _LEAST_KEPT)
    ]
    if not usable:
        text = (
            "No trained method can be recommended: each finds nothing, or less than half of what "
            "the dictionary matches. Train longer, or look for wrong phrases in the dictionary."
        )
        return Story(None, text)
    found = {name: hidden[name] for name in usable if name in hidden} if hidden else {}
    is_compared = len(found) > 1 and are_comparable(list(found.values()))
    chosen = best_of(found) if is_compared else usable[0]
    text = f"Take {chosen}: {_what_it_does(pool, chosen, kept[chosen], dictionary)}"
    if is_compared:
        text += f". {_hidden_reason(chosen, found)}"
    elif chosen != trained[0]:
        has_any = pool.column(trained[0]).any()
        lost = "loses most of the dictionary's matches" if has_any else "finds nothing"
        text += f", while {trained[0]} {lost}"
    agreement = _agreement(pool, trained)
    if agreement is not None:
        text += f". All methods agree on {round(100 * agreement)} % of what any of them finds"
    caution = f"{HIDDEN_CAUTION} " if is_compared else ""
    caution += _how_right((judged or {}).get(chosen, (0, 0)))
    if agreement is not None and agreement < _LOW_AGREEMENT:
        caution += (
            " The methods differ a lot: review their disagreements before you use the result."
        )
    text += "."
    if (result := found.get(chosen)) and result.epochs != len(result.after_epochs):
        text += f" {epochs_advice(result)}"
    return Story(chosen, text, caution)


def _hidden_reason(chosen: str, found: Mapping[str, FoundAgain]) -> str:
    """Return how the methods compare on hidden phrases: counts of words, not shares."""
    result = found[chosen]
    others = {name: other for name, other in found.items() if name != chosen}
    listed = ", ".join(f"{name} {sum(other.found):,}" for name, other in others.items())
    text = (
        f"Of {sum(result.words):,} words in {len(result.phrases):,} phrases hidden from training, "
        f"it finds {sum(result.found):,} again, {listed}"
    )
    if any(not is_surely_more(result, other) for other in others.values()):
        text += "; a difference this small may be chance"
    return text


def _what_it_does(pool: Pool, name: str, kept: float | None, dictionary: str | None) -> str:
    if kept is None or dictionary is None:
        return (
            f"of those trained it is the one to trust first, and it finds {_entities(pool, name)}"
        )
    added = int((pool.column(name) & ~pool.column(dictionary)).sum())
    return (
        f"it keeps {round(100 * kept)} % of the dictionary's matches and adds {added:,} entities "
        "that the dictionary does not match"
    )


def _entities(pool: Pool, name: str) -> str:
    count = int(pool.column(name).sum())
    return "1 entity" if count == 1 else f"{count:,} entities"


def _how_right(judged: tuple[int, int]) -> str:
    count, right = judged
    if count < _FEW_JUDGED:
        return "How many are right is not known without gold: judge some in Review."
    return (
        f"Of {count:,} that a person judged, {right:,} are right; they were not drawn at random, "
        "so this says little about the rest."
    )


def _kept_share(pool: Pool, name: str, dictionary: str | None) -> float | None:
    """Return the share of the dictionary's matches that a method finds too; None without any."""
    if dictionary is None or not pool.column(dictionary).any():
        return None
    return float(pool.column(name)[pool.column(dictionary)].mean())


def _agreement(pool: Pool, trained: Sequence[str]) -> float | None:
    """Return the share of what any method finds that all of them find; None for one method."""
    counts = np.sum([pool.column(name) for name in trained], axis=0)
    found = int((counts > 0).sum())
    if len(trained) < 2 or not found:
        return None
    return int((counts == len(trained)).sum()) / found


def _nothing_trained() -> Story:
    return Story(None, "Choose a trained method to see how it compares with the dictionary.")
