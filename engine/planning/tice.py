"""Estimate the label frequency c: the share of a type's tokens that the dictionary labels.

TIcE (Bekker and Davis, AAAI 2018) bounds c from below: in any subset of the tokens the labeled
share is at most c, and it comes close to c where nearly all tokens are of the type. A decision tree
looks for such subsets on one fold; the other folds say how many of their tokens are labeled.

Differences from the published algorithm, because a dictionary labels words and not tokens:

- Folds divide the distinct words, so a subset that was chosen for one labeled word is judged by
  others; a feature of the token itself counts only if ten distinct words share it.
- T, the size of a subset, counts words: Kish's effective number, 100 for 100 words equally often.
- The bound is solved for c instead of iterated twice from c = 0.5 (a first step that ends at 0
  makes the second one trust any subset), with delta = 1/2, one standard deviation. The published
  delta falls to 0.025 (6.2 deviations) on any corpus of this size, and with T in words that gave
  2 to 13 times the true prior on synthetic corpora; 1/2 was chosen there.
"""

import heapq
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_FOLDS = 5  # a tree grows on one fold, the other four judge its subsets
_ROUNDS = 6  # ways to divide the words into folds; c is averaged over rounds and folds
_SPLITS = 100  # of one tree
_SMALLEST_SUBSET = 10  # tokens to grow on, words to judge by
_PURITY_BIAS = 5  # k of max-bepp: labeled / (all + k) favors subsets that are pure and not tiny
_DELTA = 0.5  # how often the bound may fail
_SHARED_BY = 10  # distinct words that share a feature; with fewer, it could identify a word
_NEIGHBOR_COUNT = 50  # tokens with that feature; a neighbor may be one word, "of" or "Dr."

_Rows = npt.NDArray[np.intp]
_Flags = npt.NDArray[np.bool_]


# ---- features that do not identify the word -------------------------------------------------


class Features(NamedTuple):
    """Each token's word and features: a sparse boolean matrix."""

    words: _Rows  # (tokens,)
    codes: npt.NDArray[np.int32]  # (tokens, groups): the one feature of the group that is true
    groups: _Rows  # (features,): the group of each feature


def token_features(sentences: Sequence[Sequence[str]]) -> Features:
    """Return the features of the tokens of all sentences; none of them identifies the word."""
    vocabulary, words = _numbered(chain.from_iterable(sentences))
    once = np.ones(len(vocabulary), np.intp)
    often = np.bincount(words, minlength=len(vocabulary))
    is_first, is_last = _sentence_edges(sentences, len(words))
    columns = [_frequent(own, once, _SHARED_BY)[words] for own in _own_features(vocabulary)]
    for neighbor in _neighbor_features(vocabulary):
        column = _frequent(neighbor, often, _NEIGHBOR_COUNT)[words] + 1
        columns.append(np.where(is_first, 0, np.roll(column, 1)))
        columns.append(np.where(is_last, 0, np.roll(column, -1)))
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    starts = np.cumsum([0, *sizes[:-1]])
    codes = (np.stack(columns, axis=1) + starts).astype(np.int32)
    return Features(words, codes, np.repeat(np.arange(len(sizes)), sizes))


def _own_features(words: Sequence[str]) -> list[list[Hashable]]:
    suffixes: list[list[Hashable]] = [
        # A suffix with at least two letters before it; otherwise it would be the word itself.
        [word[-n:].lower() if len(word) >= n + 2 else "" for word in words]
        for n in (2, 3, 4)
    ]
    return [
        *suffixes,
        [_shape(word) for word in words],
        [_shape(word[:2]) for word in words],
        [min(len(word), 8) // 2 for word in words],
        [any(letter.isdigit() for letter in word) for word in words],
        [any(letter.isalnum() for letter in word) for word in words],
    ]


def _neighbor_features(words: Sequence[str]) -> list[list[Hashable]]:
    return [
        [_shape(word) for word in words],
        [word[-2:].lower() for word in words],
        [word[-3:].lower() for word in words],
    ]


def _shape(word: str) -> str:
    """Return the word's kinds of letters, repeats dropped, at most six.

    >>> _shape("Interleukin-12B")
    'Xx-dX'
    """
    shape = ""
    for letter in word:
        if letter.isalpha():
            kind = "X" if letter.isupper() else "x"
        else:
            kind = "d" if letter.isdigit() else letter
        if not shape.endswith(kind):
            shape += kind
            if len(shape) == 6:
                break
    return shape


def _numbered(values: Iterable[Hashable]) -> tuple[list[str], _Rows]:
    """Return the distinct values in order of appearance, and the number of each value."""
    numbers: dict[Hashable, int] = {}
    codes = np.fromiter((numbers.setdefault(value, len(numbers)) for value in values), np.intp)
    return [str(value) for value in numbers], codes


def _frequent(values: Iterable[Hashable], weights: _Rows, at_least: int) -> _Rows:
    """Number the values with at least this weight from 1 on; 0 for all others."""
    _, numbers = _numbered(values)
    is_frequent = np.bincount(numbers, weights) >= at_least
    return np.where(is_frequent, np.cumsum(is_frequent), 0)[numbers]


def _sentence_edges(sentences: Sequence[Sequence[str]], token_count: int) -> tuple[_Flags, _Flags]:
    ends = np.cumsum([len(tokens) for tokens in sentences if tokens])
    is_last = np.zeros(token_count, np.bool_)
    is_last[ends - 1] = True
    return np.roll(is_last, 1), is_last


# ---- TIcE -----------------------------------------------------------------------------------


class _Node(NamedTuple):
    """A subset of the tokens, and how many of its growing tokens have each feature."""

    growing: _Rows
    judging: _Rows
    counts: npt.NDArray[np.intp]  # (features,)
    labeled: npt.NDArray[np.intp]  # (features,), of the labeled tokens


def label_frequency(
    features: Features, labels: npt.NDArray[np.int16], class_number: int, seed: int
) -> float:
    """Return c, the share of a type's tokens that are labeled, averaged over rounds and folds."""
    is_labeled = labels == class_number
    rows = np.flatnonzero(is_labeled | (labels == 0))
    bounds = []
    for round_number in range(_ROUNDS):
        rng = np.random.default_rng([seed, round_number])
        fold_of_word = rng.integers(_FOLDS, size=int(features.words.max()) + 1)
        folds = fold_of_word[features.words[rows]]
        for fold in range(_FOLDS):
            nodes = _grow(features, is_labeled, rows[folds == fold], rows[folds != fold])
            bounds.append(_largest_bound(nodes, features.words, is_labeled))
    mean = float(np.mean(bounds))
    # With too few words to judge by, we only know that c is at least the labeled share.
    return max(mean, float(is_labeled[rows].mean()), 1 / len(labels))


def _grow(features: Features, is_labeled: _Flags, growing: _Rows, judging: _Rows) -> list[_Node]:
    """Return the nodes of a tree that splits the subset with the highest labeled share first."""
    root = _node(features, is_labeled, growing, judging)
    nodes = [root]
    queue = [(0.0, 0)]  # smallest first: (minus the biased labeled share, index in nodes)
    for _ in range(_SPLITS):
        if not queue:
            break
        parent = nodes[heapq.heappop(queue)[1]]
        feature = _best_split(parent, is_labeled)
        if feature is None:
            continue
        for child in _split(parent, feature, features, is_labeled):
            if len(child.growing) >= _SMALLEST_SUBSET:
                share = is_labeled[child.growing].sum() / (len(child.growing) + _PURITY_BIAS)
                heapq.heappush(queue, (-float(share), len(nodes)))
            nodes.append(child)
    return nodes


def _node(features: Features, is_labeled: _Flags, growing: _Rows, judging: _Rows) -> _Node:
    size = len(features.groups)
    counts = np.bincount(features.codes[growing].ravel(), minlength=size)
    labeled = growing[is_labeled[growing]]
    return _Node(
        growing, judging, counts, np.bincount(features.codes[labeled].ravel(), minlength=size)
    )


def _best_split(node: _Node, is_labeled: _Flags) -> int | None:
    """Return the feature with the highest max-bepp: the biased labeled share of its better side."""
    size, labeled = len(node.growing), int(is_labeled[node.growing].sum())
    without = size - node.counts
    with_share = node.labeled / (node.counts + _PURITY_BIAS)
    without_share = (labeled - node.labeled) / (without + _PURITY_BIAS)
    is_split = (node.counts >= _SMALLEST_SUBSET) & (without > 0)
    best = np.where(
        is_split,
        np.maximum(with_share, np.where(without >= _SMALLEST_SUBSET, without_share, 0)),
        0,
    )
    feature = int(best.argmax())
    return feature if best[feature] > 0 else None


def _split(
    node: _Node, feature: int, features: Features, is_labeled: _Flags
) -> tuple[_Node, _Node]:
    group = features.groups[feature]
    grows = features.codes[node.growing, group] == feature
    judges = features.codes[node.judging, group] == feature
    sides = [
        (node.growing[grows], node.judging[judges]),
        (node.growing[~grows], node.judging[~judges]),
    ]
    smaller, larger = sorted(sides, key=lambda side: len(side[0]))
    counted = _node(features, is_labeled, *smaller)
    # The larger side is the rest, so most tokens are counted only once.
    rest = _Node(*larger, node.counts - counted.counts, node.labeled - counted.labeled)
    return counted, rest


def _largest_bound(nodes: Sequence[_Node], words: _Rows, is_labeled: _Flags) -> float:
    """Return the highest lower bound on c that any of the subsets gives."""
    judged = [node.judging for node in nodes if len(node.judging) >= _SMALLEST_SUBSET]
    shares = np.array([is_labeled[rows].mean() for rows in judged])
    largest = 0.0
    for i in np.argsort(-shares, kind="stable"):
        if shares[i] <= largest:  # a bound is below its share, and later shares are lower
            break
        word_count = _effective_words(words[judged[i]])
        if word_count >= _SMALLEST_SUBSET:
            largest = max(largest, _lower_bound(float(shares[i]), word_count))
    return largest


def _effective_words(words: _Rows) -> float:
    """Return Kish's effective sample size with a word as the unit: n^2 / sum_w n_w^2."""
    counts = np.bincount(words).astype(np.float64)
    return float(len(words) ** 2 / (counts @ counts))


def _lower_bound(share: float, size: float) -> float:
    """Return the c that solves c = L/T - sqrt(c (1 - c) (1 - delta) / (delta T)).

    share: L/T, size: T. One-sided Chebyshev: c is below this with a probability of at most delta.

    >>> round(_lower_bound(0.5, 100), 4)
    0.4502
    """
    spread = (1 - _DELTA) / _DELTA / size
    root = np.sqrt(spread * (share * (1 - share) + spread / 4))
    return float((share + spread / 2 - root) / (1 + spread))
