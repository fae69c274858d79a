"""Distant labels become class priors: what share of all tokens belongs to each entity type.

The dictionary labels a share c of a type's tokens (its label frequency), so prior = labeled
share / c. TIcE (Bekker and Davis, AAAI 2018) bounds c from below: in any subset of the tokens the
labeled share is at most c, and where nearly all tokens are of the type it comes close. A decision
tree looks for such subsets on some folds; the others say how many of their tokens are labeled.

What differs from the published algorithm, because a dictionary labels words and not tokens:

- Folds part the distinct words, so a subset that was chosen for one labeled word is judged by
  others; a feature of the token itself counts only if ten distinct words share it.
- T, the size of a subset, counts words: Kish's effective number, 100 for 100 words equally often.
- The bound is solved for c instead of iterated twice from c = 0.5 (a first step that ends at 0
  makes the second one trust any subset), with delta = 1/2, one standard deviation. The published
  delta falls to 0.025 (6.2 deviations) on any corpus of this size, and with T in words that gave
  2 to 13 times the true prior on synthetic corpora; 1/2 was chosen there.
"""

import heapq
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engine.text import InputError

ESTIMATED = "estimated by TIcE"
GIVEN = "given"
TRUE = "true, from gold"

_FOLDS = 5  # a tree grows on one of them, the other four judge its subsets
_ROUNDS = 6  # ways to part the words into folds; c is averaged over rounds and folds
_SPLITS = 100  # of one tree
_SMALLEST_SUBSET = 10  # tokens to grow on, words to judge by
_PURITY_BIAS = 5  # k of max-bepp: labeled / (all + k) favors subsets that are pure and not tiny
_DELTA = 0.5  # how often the bound may fail
_SHARED_BY = 10  # distinct words that share a feature; one of fewer could name a word
_NEIGHBOR_COUNT = 50  # tokens with that feature; a neighbor may be one word, "of" or "Dr."
_LARGEST_TOTAL = 0.9  # of all types; what estimates that sum to 1 or more are scaled to
_MOST_TOKENS = 500_000  # c of a longer text is estimated on sentences drawn at random
_FEW_WORDS = 200  # labeled distinct words, below which an estimate is rough

_Rows = npt.NDArray[np.intp]
_Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Priors:
    """The prior of each class, and where it came from."""

    types: tuple[str, ...]  # class i is types[i - 1]
    values: npt.NDArray[np.float64]  # (classes,), sums to 1; values[0] = non-entity
    source: tuple[str, ...]  # one a type: ESTIMATED, GIVEN or TRUE
    labeled_share: tuple[float, ...]  # one a type: share of all tokens; nan without labels
    notes: tuple[str, ...] = ()  # sentences: scaled, rough, below the labeled share


# ---- the three sources ----------------------------------------------------------------------


def estimate_priors(
    sentences: Sequence[Sequence[str]],
    labels: npt.NDArray[np.int16],
    types: Sequence[str],
    *,
    seed: int = 0,
) -> Priors:
    """Return priors estimated from the distant labels of the sentences, laid end to end.

    One type against the rest. Tokens labeled as another type are left out while c is estimated:
    they are known not to be of this type, and a bound from fewer negatives is tighter. An
    estimate is never below the labeled share, since c is at most 1.
    """
    _check(sentences, labels, types)
    shares = _labeled_shares(labels, types)
    sampled, sampled_labels = _sample(sentences, labels, seed)
    features = _features(sampled)
    values, notes = [], []
    if len(sampled_labels) < len(labels):
        sizes = f"{len(sampled_labels):,} of {len(labels):,}"
        notes.append(f"estimated on {sizes} tokens, in sentences drawn at random")
    for i, name in enumerate(types, start=1):
        frequency = _label_frequency(features, sampled_labels, i, seed)
        values.append(shares[i - 1] / frequency)
        word_count = len(np.unique(features.words[sampled_labels == i]))
        if word_count < _FEW_WORDS:
            words = "1 distinct word is" if word_count == 1 else f"{word_count} distinct words are"
            notes.append(f"{name}: {words} labeled; the estimate is rough and often too high")
    values, scale_notes = _scaled(values)
    return _priors(types, values, ESTIMATED, shares, notes + scale_notes)


def given_priors(
    values: Mapping[str, float],
    types: Sequence[str],
    *,
    labels: npt.NDArray[np.int16] | None = None,
) -> Priors:
    """Return the priors a person chose; with `labels`, one below the labeled share is noted."""
    if set(values) != set(types):
        names = ", ".join(sorted(set(values) ^ set(types)))
        raise InputError(f"priors and entity types differ in {names}; give one prior a type")
    chosen = [float(values[name]) for name in types]
    total = sum(chosen)
    smallest = min(chosen, default=0.0)
    if not (smallest > 0 and total < 1):
        wrong = smallest if smallest <= 0 else total
        raise InputError(f"Priors must be > 0 and sum to < 1 (now {wrong:.4g}).")
    return _with_shares(types, chosen, GIVEN, labels)


def true_priors(
    gold_labels: npt.NDArray[np.int16],
    types: Sequence[str],
    *,
    labels: npt.NDArray[np.int16] | None = None,
) -> Priors:
    """Return each class's share of the gold classes: for evaluation, never for training."""
    if not len(gold_labels):
        raise InputError("no gold token to take priors from")
    return _with_shares(types, _labeled_shares(gold_labels, types), TRUE, labels)


def _check(
    sentences: Sequence[Sequence[str]], labels: npt.NDArray[np.int16], types: Sequence[str]
) -> None:
    token_count = sum(len(tokens) for tokens in sentences)
    if token_count != len(labels):
        raise ValueError(f"expected one label a token, got {len(labels)} for {token_count} tokens")
    for i, name in enumerate(types, start=1):
        if not (labels == i).any():
            raise InputError(
                f"no token is labeled as {name}, so its prior cannot be estimated; "
                "add phrases to its dictionary or leave the type out"
            )


def _labeled_shares(labels: npt.NDArray[np.int16], types: Sequence[str]) -> list[float]:
    counts = np.bincount(labels, minlength=len(types) + 1)[1 : len(types) + 1]
    return [int(count) / len(labels) for count in counts]


def _with_shares(
    types: Sequence[str],
    values: Sequence[float],
    source: str,
    labels: npt.NDArray[np.int16] | None,
) -> Priors:
    if labels is None:
        return _priors(types, values, source, [float("nan")] * len(types), [])
    shares = _labeled_shares(labels, types)
    notes = [
        f"{name}: the prior {value:.4f} is below the labeled share {share:.4f}; "
        "some of its labels must be wrong"
        for name, value, share in zip(types, values, shares, strict=True)
        if value < share
    ]
    return _priors(types, values, source, shares, notes)


def _scaled(values: list[float]) -> tuple[list[float], list[str]]:
    total = sum(values)
    if total < 1:
        return values, []
    note = f"the estimates summed to {total:.4g}; scaled down to {_LARGEST_TOTAL}"
    return [value * _LARGEST_TOTAL / total for value in values], [note]


def _priors(
    types: Sequence[str],
    values: Sequence[float],
    source: str,
    shares: Sequence[float],
    notes: Sequence[str],
) -> Priors:
    return Priors(
        tuple(types),
        np.array([1 - sum(values), *values]),
        (source,) * len(types),
        tuple(shares),
        tuple(notes),
    )


# ---- features that do not name the word -----------------------------------------------------


class _Features(NamedTuple):
    """Each token's words and features; a boolean matrix stored by what is true in it."""

    words: _Rows  # (tokens,)
    codes: npt.NDArray[np.int32]  # (tokens, groups): the one feature of the group that is true
    groups: _Rows  # (features,): the group of each feature


def _sample(
    sentences: Sequence[Sequence[str]], labels: npt.NDArray[np.int16], seed: int
) -> tuple[Sequence[Sequence[str]], npt.NDArray[np.int16]]:
    if len(labels) <= _MOST_TOKENS:
        return sentences, labels
    sizes = np.array([len(tokens) for tokens in sentences])
    order = np.random.default_rng(seed).permutation(len(sizes))
    chosen = np.sort(order[np.cumsum(sizes[order]) <= _MOST_TOKENS])
    is_chosen = np.isin(np.arange(len(sizes)), chosen)
    return [sentences[i] for i in chosen], labels[np.repeat(is_chosen, sizes)]


def _features(sentences: Sequence[Sequence[str]]) -> _Features:
    vocabulary, words = _numbered(chain.from_iterable(sentences))
    once = np.ones(len(vocabulary), np.intp)
    often = np.bincount(words, minlength=len(vocabulary))
    is_first, is_last = _sentence_edges(sentences, len(words))
    columns = [_frequent(of, once, _SHARED_BY)[words] for of in _own_features(vocabulary)]
    for of in _neighbor_features(vocabulary):
        column = _frequent(of, often, _NEIGHBOR_COUNT)[words] + 1
        columns.append(np.where(is_first, 0, np.roll(column, 1)))
        columns.append(np.where(is_last, 0, np.roll(column, -1)))
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    starts = np.cumsum([0, *sizes[:-1]])
    codes = (np.stack(columns, axis=1) + starts).astype(np.int32)
    return _Features(words, codes, np.repeat(np.arange(len(sizes)), sizes))


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
    of = np.fromiter((numbers.setdefault(value, len(numbers)) for value in values), np.intp)
    return [str(value) for value in numbers], of


def _frequent(values: Iterable[Hashable], weights: _Rows, at_least: int) -> _Rows:
    """Number the values that weigh at least so much from 1 on; 0 for all others."""
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
    """A subset of the tokens, and how many of those to grow on have each feature."""

    growing: _Rows
    judging: _Rows
    counts: npt.NDArray[np.intp]  # (features,)
    labeled: npt.NDArray[np.intp]  # (features,), of the labeled tokens


def _label_frequency(
    features: _Features, labels: npt.NDArray[np.int16], class_number: int, seed: int
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
    # With too few words to judge by, what is known is that c is at least the share of all tokens.
    return max(mean, float(is_labeled[rows].mean()), 1 / len(labels))


def _grow(features: _Features, is_labeled: _Flags, growing: _Rows, judging: _Rows) -> list[_Node]:
    """Return the nodes of a tree that splits its most labeled subset first."""
    root = _node(features, is_labeled, growing, judging)
    nodes = [root]
    queue = [(0.0, 0)]  # least first: minus the biased labeled share, index in nodes
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


def _node(features: _Features, is_labeled: _Flags, growing: _Rows, judging: _Rows) -> _Node:
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
    node: _Node, feature: int, features: _Features, is_labeled: _Flags
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
    # The larger side is what the smaller one leaves: a tree counts few tokens twice.
    rest = _Node(*larger, node.counts - counted.counts, node.labeled - counted.labeled)
    return counted, rest


def _largest_bound(nodes: Sequence[_Node], words: _Rows, is_labeled: _Flags) -> float:
    """Return the highest lower bound on c that any of the subsets gives."""
    judged = [node.judging for node in nodes if len(node.judging) >= _SMALLEST_SUBSET]
    shares = np.array([is_labeled[rows].mean() for rows in judged])
    largest = 0.0
    for i in np.argsort(-shares, kind="stable"):
        if shares[i] <= largest:  # a bound is below its share, and so are all that follow
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

    share: L/T, size: T. One-sided Chebyshev: c is below this with probability delta at most.

    >>> round(_lower_bound(0.5, 100), 4)
    0.4502
    """
    spread = (1 - _DELTA) / _DELTA / size
    root = np.sqrt(spread * (share * (1 - share) + spread / 4))
    return float((share + spread / 2 - root) / (1 + spread))
