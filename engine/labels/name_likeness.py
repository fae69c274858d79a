"""Tell how much unlabeled words look like the matches of the dictionaries, and like which type.

Naive Bayes with few features, learned from the matches against the rest of the text: the words
before and after, capitals, the letters a word begins and ends with, its length, and how rare it is
in general English. No gold and no network; a million tokens take a few seconds.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.dictionaries import general_share

Rows = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]
Odds = npt.NDArray[np.float64]  # (values of a feature, 1 + types): for any match, then by type
LEAST_MATCHES = 20  # fewer teach nothing
_CONTEXT_PRIOR, _WORD_PRIOR = 5.0, 2.0  # how many observations the prior counts as
_FIRST, _UPPER, _CAPITAL, _LOWER = range(4)


@dataclass(frozen=True, slots=True)
class Likeness:
    """Log odds of a match, per token or per word; one column for any match, then one per type."""

    before: Odds  # (tokens, 1 + types): by the word before this one
    after: Odds  # (tokens, 1 + types): by the word after it
    shape: Odds  # (tokens, 1 + types): by its capitals
    word: Odds  # (words, 1 + types): by its letters and its rarity


def learn_likeness(
    label: npt.NDArray[np.int16],
    types: int,
    *,
    sentence: Rows,
    word: Rows,
    words: Sequence[str],
    is_free: Flags,
    is_capital: Flags,
    is_upper: Flags,
) -> Likeness | None:
    """Return the log odds; None if there are too few matches to learn from.

    All arrays have one value per token, except `words`, in lower case. `is_free` marks unlabeled
    words, which stand for what is no name, though some of them are.
    """
    is_new = np.ones(len(label), bool)  # a sentence begins
    is_new[1:] = sentence[1:] != sentence[:-1]
    is_last = np.append(is_new[1:], True)[: len(label)]
    differs = np.ones(len(label), bool)
    differs[1:] = label[1:] != label[:-1]
    begins = (label > 0) & (is_new | differs)
    ends = (label > 0) & (is_last | np.append(differs[1:], True)[: len(label)])
    if begins.sum() < LEAST_MATCHES:
        return None
    edge = len(words)
    previous = np.where(is_new, edge, np.roll(word, 1))
    following = np.where(is_last, edge, np.roll(word, -1))
    shape = np.where(is_upper, _UPPER, np.where(is_capital, _CAPITAL, _LOWER))
    shape[is_new] = _FIRST

    def by_token(values: Rows, size: int, is_match: Flags) -> Odds:
        matched = _counts(values[is_match], label[is_match], size, types)
        free = np.bincount(values[is_free], minlength=size)
        return _log_odds(matched, free, _CONTEXT_PRIOR)[values]

    # Each word counts once per type: a frequent name should not teach its letters.
    is_known = np.zeros((len(words), 1 + types), bool)
    is_known[word[label > 0], label[label > 0]] = True
    is_known[:, 0] = is_known[:, 1:].any(axis=1)
    stands_free = np.zeros(len(words), bool)
    stands_free[word[is_free]] = True
    total = np.zeros((len(words), 1 + types))
    for values in zip(*map(_letters, words), strict=True):
        codes, size = _numbered(values)
        matched = np.stack(
            [np.bincount(codes[is_known[:, i]], minlength=size) for i in range(1 + types)], axis=1
        )
        free = np.bincount(codes[stands_free], minlength=size)
        total += _log_odds(matched, free, _WORD_PRIOR)[codes]
    return Likeness(
        by_token(previous, edge + 1, begins),
        by_token(following, edge + 1, ends),
        by_token(shape, 4, label > 0),
        total,
    )


def _letters(word: str) -> Iterator[object]:
    """Yield the features of a word by itself."""
    yield word[-2:]
    yield word[-3:]
    yield word[-4:]
    yield word[:3]
    yield any(letter.isdigit() for letter in word)
    yield "-" in word
    yield min(len(word) // 3, 5)
    share = general_share(word)
    yield int(-2 * math.log10(share)) if share else -1


def _counts(
    values: Rows, label: npt.NDArray[np.int16], size: int, types: int
) -> npt.NDArray[np.int64]:
    """Return how often each value stands at a match of any type, and at one of each type."""
    table = np.zeros((size, 1 + types), np.int64)
    np.add.at(table, (values, label), 1)
    table[:, 0] = table[:, 1:].sum(axis=1)
    return table


def _log_odds(matched: npt.NDArray[np.int64], free: npt.NDArray[np.int64], prior: float) -> Odds:
    """Return how much likelier each value is at a match than elsewhere, smoothed."""
    counts, rest = matched.astype(float), free.astype(float)[:, None]
    usual = (counts + rest + 0.5) / max(1.0, counts[:, 0].sum() + rest.sum())
    odds: Odds = np.log((counts + prior * usual) / (counts.sum(axis=0) + prior)) - np.log(
        (rest + prior * usual) / (rest.sum() + prior)
    )
    return odds


def _numbered(values: Iterable[object]) -> tuple[Rows, int]:
    numbers: dict[object, int] = {}
    codes = np.fromiter((numbers.setdefault(value, len(numbers)) for value in values), np.intp)
    return codes, len(numbers)
