"""Compare methods without gold by phrases that were hidden from labeling and training.

A tenth of each type's phrases is hidden. Every method then marks the same share of the tokens that
have no label, those with the highest probability of an entity, and the words of hidden phrases
among them count as found again. This compares methods and settings. It says more than a method
finds of the names that a dictionary really lacks: those are rarer and stranger than the ones it
has. So it is never shown as recall.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from engine.dictionaries import Dictionary, find_phrases, mute_phrases
from engine.labels import DistantLabels
from engine.text import InputError

HIDDEN_SHARE = 0.1  # of the phrases that match
HIDDEN_CAUTION = (
    "This compares runs; it says more than you will get on names your dictionary lacks."
)
_LEAST_PHRASES = 10  # hidden; with fewer, chance decides
_RESAMPLES = 2_000
_SURE = 0.975


@dataclass(frozen=True, slots=True)
class Hidden:
    """The phrases that are hidden, and the dictionaries without them."""

    phrases: tuple[tuple[str, str], ...]  # folded text and type
    dictionaries: tuple[Dictionary, ...]


@dataclass(frozen=True, slots=True)
class FoundAgain:
    """How many words of each hidden phrase a method finds again at a fixed rate."""

    rate: float  # share of the unlabeled tokens that the method marks
    phrases: tuple[str, ...]
    words: tuple[int, ...]  # by phrase: its words in the text
    found: tuple[int, ...]  # by phrase: those that the method marks
    after_epochs: tuple[int, ...] = ()  # words found after each epoch, in a part of the text
    epochs: int = 0  # how many the words found after each of them suggest; 0 if not counted

    @property
    def share(self) -> float:
        """The share of all hidden words that are found again; not a recall."""
        return sum(self.found) / max(1, sum(self.words))

    @property
    def record(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    @classmethod
    def of_record(cls, record: Any) -> Self | None:
        """Return what a stored record says; None if it is none of ours."""
        try:
            rate, phrases = float(record["rate"]), tuple(map(str, record["phrases"]))
            words, found = (tuple(map(int, record[name])) for name in ("words", "found"))
            after = tuple(map(int, record.get("after_epochs", ())))
            epochs = int(record.get("epochs", 0))
        except (AttributeError, TypeError, ValueError, KeyError, OverflowError):
            return None
        is_sound = len(phrases) == len(words) == len(found) and all(
            0 <= n <= of for n, of in zip(found, words, strict=True)
        )
        return cls(rate, phrases, words, found, after, epochs) if is_sound else None


# ---- hide -----------------------------------------------------------------------------------


def hide_phrases(
    dictionaries: Sequence[Dictionary],
    labels: DistantLabels,
    share: float = HIDDEN_SHARE,
    seed: int = 0,
) -> Hidden:
    """Hide a share of each type's phrases that match, in all their spellings and dictionaries.

    The same labels, share and seed hide the same phrases. Raises InputError if too few would be
    hidden to compare anything.
    """
    check_hidden_share(share)
    matched = labels.phrases.iloc[np.unique(labels.kept["phrase"].to_numpy())]
    folded = {
        (text.casefold(), entity_type)
        for text, entity_type in zip(matched["phrase"], matched["entity_type"], strict=True)
    }
    random = np.random.default_rng(seed)
    chosen: list[tuple[str, str]] = []
    for entity_type in labels.types:
        own = sorted(pair for pair in folded if pair[1] == entity_type)
        count = min(int(share * len(own) + 0.5), len(own) - 1)  # a type keeps one at least
        if count > 0:
            chosen += [own[i] for i in random.choice(len(own), count, replace=False)]
    if len(chosen) < _LEAST_PHRASES:
        raise InputError(
            f"{len(folded):,} phrases match the text: too few to hide some and compare methods by "
            f"them. It takes about {round(_LEAST_PHRASES / share):,}"
        )
    rows = find_phrases(dictionaries, [(text, None) for text, _ in chosen])
    return Hidden(tuple(chosen), tuple(mute_phrases(dictionaries, rows)))


def check_hidden_share(share: float) -> None:
    """Raise InputError for a share of phrases that cannot be hidden."""
    if not 0 < share <= 0.5:
        raise InputError(
            f"the share of phrases to hide is above 0 and at most 0.5, such as {HIDDEN_SHARE}; "
            f"got {share:g}"
        )


def hidden_words(
    hidden: Hidden, labels: DistantLabels, without: npt.NDArray[np.int16]
) -> npt.NDArray[np.int32]:
    """Return the number of the hidden phrase at each token, -1 elsewhere.

    `labels` are those of the whole dictionaries, and `without` the classes that the tokens still
    have. A word that another phrase labels is not hidden.
    """
    numbers = {pair: i for i, pair in enumerate(hidden.phrases)}
    columns = (labels.phrases[name] for name in ("phrase", "entity_type"))
    by_phrase = np.array(
        [numbers.get((text.casefold(), name), -1) for text, name in zip(*columns, strict=True)],
        np.int32,
    )
    kept = labels.kept
    kept = kept[by_phrase[kept["phrase"].to_numpy()] >= 0]
    words = np.full(len(without), -1, np.int32)
    offsets = labels.bounds[kept["sentence"].to_numpy()]
    for offset, start, end, phrase in zip(
        offsets, kept["start"], kept["end"], kept["phrase"], strict=True
    ):
        words[offset + start : offset + end] = by_phrase[phrase]
    words[without > 0] = -1
    return words


# ---- find again -----------------------------------------------------------------------------


def common_rate(prior: float, words: npt.NDArray[np.int32], labels: npt.NDArray[np.int16]) -> float:
    """Return the share of unlabeled tokens that every method marks.

    That is the share of entities among them, by the prior of an entity; at least twice as many as
    words are hidden, so that a prior that is too low does not make all methods look alike.
    """
    labeled = float((labels > 0).mean())
    expected = (prior - labeled) / (1 - labeled)
    least = 2 * float((words >= 0).sum()) / max(1, int((labels == 0).sum()))
    return float(min(0.5, max(expected, least)))


def find_again(
    hidden: Hidden,
    words: npt.NDArray[np.int32],
    labels: npt.NDArray[np.int16],
    probability: npt.NDArray[np.floating],
    rate: float,
) -> FoundAgain:
    """Count the hidden words among the unlabeled tokens with the highest probabilities.

    `probability` is how likely each token is part of an entity, by the method to be compared.
    """
    unlabeled = np.flatnonzero(labels == 0)
    count = round(rate * len(unlabeled))
    marked = unlabeled[np.argsort(-probability[unlabeled], kind="stable")[:count]]
    total, found = (
        np.bincount(numbers[numbers >= 0], minlength=len(hidden.phrases))
        for numbers in (words, words[marked])
    )
    seen = np.flatnonzero(total)
    return FoundAgain(
        rate,
        tuple(f"{hidden.phrases[i][0]} ({hidden.phrases[i][1]})" for i in seen),
        tuple(total[seen].tolist()),
        tuple(found[seen].tolist()),
    )


# ---- rank -----------------------------------------------------------------------------------


def are_comparable(results: Sequence[FoundAgain]) -> bool:
    """Return whether the same phrases were hidden and the same share of tokens was marked."""
    first = results[0]
    return all(
        (r.phrases, r.words) == (first.phrases, first.words) and abs(r.rate - first.rate) < 1e-9
        for r in results
    )


def is_surely_more(after: FoundAgain, before: FoundAgain) -> bool:
    """Return whether one finds more hidden words than the other, whichever phrases are hidden.

    The phrases are drawn again many times; words of one phrase stand and fall together.
    """
    gain = np.array(after.found) - np.array(before.found)
    draws = np.random.default_rng(0).multinomial(
        len(gain), np.full(len(gain), 1 / len(gain)), size=_RESAMPLES
    )
    return bool(((draws @ gain) > 0).mean() >= _SURE)


def best_of(results: Mapping[str, FoundAgain]) -> str:
    """Return the name of the method to take: the first that no other surely beats.

    `results` come in the order of trust, which decides where chance could explain the difference.
    """
    top = max(results, key=lambda name: results[name].share)
    return next(
        name for name in results if name == top or not is_surely_more(results[top], results[name])
    )


# ---- epochs ---------------------------------------------------------------------------------


def suggested_epochs(results: Sequence[FoundAgain]) -> int:
    """Return how many epochs to train for, from what was found again after each.

    As many as there were, unless an earlier epoch surely found more than the last, or the last
    surely found more than the one after three quarters: then half as many again.
    """
    last = results[-1]
    top = max(range(len(results)), key=lambda i: results[i].share)
    if is_surely_more(results[top], last):
        return top + 1
    if is_surely_more(last, results[_late(len(results)) - 1]):
        return len(results) + (len(results) + 1) // 2
    return len(results)


def epochs_advice(result: FoundAgain) -> str:
    """Return in a sentence how many epochs are suggested and why; "" if they were not counted."""
    after, wanted = result.after_epochs, result.epochs
    if not after or not wanted:
        return ""
    count, end = len(after), after[-1]
    if wanted < count:
        return (
            f"Try {wanted} epochs: after {wanted} of {count} it found {after[wanted - 1]:,} of the "
            f"hidden words again, at the end {end:,}."
        )
    late = _late(count)
    found = f"it found {after[late - 1]:,} of the hidden words again after {late} of {count}"
    if wanted > count:
        return f"Try {wanted} epochs: {found}, and {end:,} at the end, so it was still learning."
    if count == 1:
        return ""
    return f"{count} epochs are enough: {found}, and {end:,} at the end."


def _late(count: int) -> int:
    """Return the epoch after three quarters of the training."""
    return max(1, 3 * count // 4)
