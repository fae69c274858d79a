"""Estimate class priors from distant labels: the share of all tokens that each type has.

The dictionary labels a share c of a type's tokens (its label frequency, see `tice`), so prior =
labeled share / c. Instead, a person can give priors or, for evaluation, gold can.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.planning.tice import label_frequency, token_features
from engine.text import InputError

ESTIMATED = "estimated by TIcE"
GIVEN = "given"
TRUE = "true, from gold"

_LARGEST_TOTAL = 0.9  # of all types; estimates that sum to 1 or more are scaled to this
_MOST_TOKENS = 500_000  # for a longer text, c is estimated on a random sample of sentences
_FEW_WORDS = 200  # with fewer distinct labeled words, an estimate is rough


@dataclass(frozen=True, slots=True)
class Priors:
    """The prior of each class, and where it came from."""

    types: tuple[str, ...]  # class i is types[i - 1]
    values: npt.NDArray[np.float64]  # (classes,), sums to 1; values[0] = non-entity
    source: tuple[str, ...]  # per type: ESTIMATED, GIVEN or TRUE
    labeled_share: tuple[float, ...]  # per type: share of all tokens; nan without labels
    notes: tuple[str, ...] = ()  # sentences: scaled, rough, below the labeled share


# ---- the three sources ----------------------------------------------------------------------


def estimate_priors(
    sentences: Sequence[Sequence[str]],
    labels: npt.NDArray[np.int16],
    types: Sequence[str],
    *,
    seed: int = 0,
) -> Priors:
    """Return priors estimated from the distant labels of the sentences.

    Each type is estimated against the rest. Tokens labeled as another type are left out
    when c is estimated: they are known not to be of this type, and with fewer negatives the bound
    is tighter. An estimate is never below the labeled share, because c is at most 1.
    """
    _check(sentences, labels, types)
    shares = _labeled_shares(labels, types)
    sampled, sampled_labels = _sample(sentences, labels, seed)
    features = token_features(sampled)
    values, notes = [], []
    if len(sampled_labels) < len(labels):
        sizes = f"{len(sampled_labels):,} of {len(labels):,}"
        notes.append(f"estimated on {sizes} tokens, in sentences drawn at random")
    for i, name in enumerate(types, start=1):
        frequency = label_frequency(features, sampled_labels, i, seed)
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
    """Return the priors a person chose; with `labels`, note those below the labeled share."""
    if set(values) != set(types):
        names = ", ".join(sorted(set(values) ^ set(types)))
        raise InputError(f"priors and entity types differ in {names}; give one prior per type")
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


def likely_share(labels: npt.NDArray[np.int16], entity_prior: float) -> float:
    """Return the share of unlabeled tokens that are entities if the prior is right (alpha).

    >>> likely_share(np.array([1, 0, 0, 0], np.int16), 0.5)
    0.3333333333333333
    """
    labeled = float((labels > 0).mean()) if len(labels) else 0.0
    return max(0.0, (entity_prior - labeled) / (1 - labeled)) if labeled < 1 else 0.0


def _check(
    sentences: Sequence[Sequence[str]], labels: npt.NDArray[np.int16], types: Sequence[str]
) -> None:
    token_count = sum(len(tokens) for tokens in sentences)
    if token_count != len(labels):
        raise ValueError(
            f"expected one label per token, got {len(labels)} for {token_count} tokens"
        )
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
