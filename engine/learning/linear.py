"""Estimate the confidence (lambda) of every token with ridge regression, in closed form.

A model that has seen a word knows whether the dictionary lists it. So the words are in ten folds,
and a token is scored only by the model that was fitted without its word. Each fold's share of the
normal equations is subtracted from the whole, so ten models cost little more than one. Unlabeled
tokens that one round calls likely are no negatives in the next (CVIR; Garg et al., NeurIPS 2021).
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.learning.confidence import Confidence, within_bounds
from engine.learning.training import Epoch
from engine.network import TokenFeatures, WordInputs
from engine.planning import LINEAR_ROUNDS, likely_share
from engine.settings import MOST_LIKELY, Settings

_FOLDS = 10  # of words
_RIDGE = 30.0
_POSITIVE_SHARE = 0.3  # weight of all labeled tokens together; that of all unlabeled ones is 1

_Floats = npt.NDArray[np.float32]
_Numbers = npt.NDArray[np.int64]
_Flags = npt.NDArray[np.bool_]


def linear_confidence(
    sentences: Sequence[Sequence[str]],
    inputs: WordInputs,
    labels: npt.NDArray[np.int16],
    entity_prior: float,
    settings: Settings,
    *,
    known_negatives: _Flags | None = None,
    on_epoch: Callable[[Epoch], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Confidence:
    """Return lambda of every token: above the threshold for the likeliest unlabeled tokens.

    How many those are follows from the prior (`likely_share`), not from the scale of the scores.
    Labeled tokens have a lambda of about 1, what a person marked as no entity about 0. The rounds
    count as epochs; if `should_stop` says so, the last whole round counts.
    """
    is_labeled = labels > 0
    is_open = ~is_labeled if known_negatives is None else ~is_labeled & ~known_negatives
    open_tokens = np.flatnonzero(is_open)
    share = settings.confidence_share * likely_share(labels, entity_prior)
    likely_count = round(min(share, MOST_LIKELY) * len(open_tokens))
    history: list[Epoch] = []

    def on_round(epoch: Epoch) -> None:
        history.append(epoch)
        if on_epoch:
            on_epoch(epoch)

    scores = entity_scores(
        TokenFeatures(inputs, settings.seed),
        number_words(sentences, is_folded=True),
        is_labeled,
        open_tokens,
        likely_count,
        seed=settings.seed,
        on_round=on_round,
        should_stop=should_stop,
    )
    scores = _shared_by_surface(scores, number_words(sentences, is_folded=False), is_open)
    values = _cut_at(scores, open_tokens, likely_count, settings.confidence_threshold)
    values[is_labeled] = 1
    values[~is_labeled & ~is_open] = 0
    return Confidence(within_bounds(values), (tuple(history),))


def entity_scores(
    features: TokenFeatures,
    words: _Numbers,
    is_labeled: _Flags,
    open_tokens: _Numbers,
    likely_count: int,
    *,
    seed: int,
    rounds: int = LINEAR_ROUNDS,
    on_round: Callable[[Epoch], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> _Floats:
    """Return how much each token looks like the labeled ones, by models without its word.

    After each round, the likeliest open tokens, as many as `likely_count`, are left out of the
    negatives of the next.
    """
    targets = torch.from_numpy(is_labeled.astype(np.float32))[:, None]
    scores = np.zeros(len(is_labeled), np.float32)
    likely = open_tokens[:0]
    for number in range(rounds):
        if should_stop and should_stop():
            break
        began = time.perf_counter()
        weights = _weights(is_labeled, likely)
        folds = _word_folds(words, seed + 1_000 * (number + 1))
        scores = fold_scores(features, folds, weights, targets)[:, 0]
        likely = open_tokens[np.argsort(-scores[open_tokens], kind="stable")[:likely_count]]
        if on_round:
            seconds = time.perf_counter() - began
            on_round(_round(number + 1, scores, is_labeled, weights, seconds))
    return scores


@dataclass(frozen=True, slots=True)
class TypeGuess:
    """The type that each token would have if it was part of an entity."""

    types: npt.NDArray[np.int16]  # (tokens,), class numbers, never 0
    margins: _Floats  # (tokens,), how far the type is ahead of the next one; about 0 to 1


def linear_types(
    sentences: Sequence[Sequence[str]],
    inputs: WordInputs,
    labels: npt.NDArray[np.int16],
    type_count: int,
    settings: Settings,
) -> TypeGuess:
    """Return the likeliest type of every token, by a model fitted on labeled tokens alone.

    As with the confidence, the model that decides on a token has not seen its word, so the labeled
    tokens show how often such guesses are right. Guesses are shared by tokens of one spelling.
    """
    is_labeled = labels > 0
    targets = torch.from_numpy(labels[:, None] == np.arange(1, type_count + 1)).float()
    features = TokenFeatures(inputs, settings.seed)
    folds = _word_folds(number_words(sentences, is_folded=True), settings.seed)
    scores = fold_scores(features, folds, is_labeled.astype(np.float32), targets)
    shared = [shared_by_spelling(column, sentences) for column in scores.T]
    ranked = np.sort(np.stack([*shared, np.zeros(len(labels), np.float32)]), axis=0)
    best = np.argmax(np.stack(shared), axis=0) + 1
    return TypeGuess(best.astype(np.int16), ranked[-1] - ranked[-2])


def number_words(sentences: Sequence[Sequence[str]], *, is_folded: bool) -> _Numbers:
    """Return the number of each token's word; with `is_folded`, letter case does not count.

    >>> number_words([["May", "may"], ["May"]], is_folded=True).tolist()
    [0, 0, 0]
    """
    number: dict[str, int] = {}
    tokens = (token for tokens in sentences for token in tokens)
    forms = (token.casefold() for token in tokens) if is_folded else tokens
    return np.array([number.setdefault(form, len(number)) for form in forms], np.int64)


def shared_by_spelling(scores: _Floats, sentences: Sequence[Sequence[str]]) -> _Floats:
    """Return half of each score and half of the mean over all tokens of the same spelling."""
    surfaces = number_words(sentences, is_folded=False)
    return _shared_by_surface(scores, surfaces, np.ones(len(scores), bool))


def fold_scores(
    features: TokenFeatures, folds: _Numbers, weights: _Floats, targets: Tensor
) -> _Floats:
    """Return (tokens, targets): what the model that did not see a token's fold says of it.

    `weights` is (tokens,) and `targets` (tokens, targets) in the weighted least squares.
    """
    size, device = features.size, features.device
    grams = torch.zeros(_FOLDS, size, size, device=device)
    sums = torch.zeros(_FOLDS, size, targets.shape[1], device=device)
    for part, rows in features.rows():
        for fold in range(_FOLDS):
            chosen = np.flatnonzero((folds[part] == fold) & (weights[part] > 0))
            fitted = rows[torch.from_numpy(chosen).to(device)]
            weighted = fitted * torch.from_numpy(weights[part][chosen]).to(device)[:, None]
            grams[fold] += weighted.T @ fitted
            sums[fold] += weighted.T @ targets[part][torch.from_numpy(chosen)].to(device)
    models = torch.cat(
        [_solve(grams.sum(0) - grams[k], sums.sum(0) - sums[k]) for k in range(_FOLDS)], dim=1
    )
    scores = np.zeros(targets.shape, np.float32)
    for part, rows in features.rows():
        by_model = (rows @ models).cpu().numpy().reshape(len(rows), _FOLDS, -1)
        scores[part] = by_model[np.arange(len(rows)), folds[part]]
    return scores


def _solve(gram: Tensor, sums: Tensor) -> Tensor:
    gram = gram.double()
    gram.diagonal().add_(_RIDGE)
    solution: Tensor = torch.linalg.solve(gram, sums.double())
    return solution.float()


def _weights(is_labeled: _Flags, left_out: _Numbers) -> _Floats:
    weights = np.ones(len(is_labeled), np.float32)
    weights[left_out] = 0
    unlabeled = weights[~is_labeled].sum()
    weights[is_labeled] = _POSITIVE_SHARE * unlabeled / max(int(is_labeled.sum()), 1)
    return weights


def _word_folds(words: _Numbers, seed: int) -> _Numbers:
    """Return the fold of each token; all tokens of a word are in the same one."""
    count = int(words.max(initial=-1)) + 1
    fold_of: _Numbers = np.random.default_rng(seed).permutation(count) % _FOLDS
    return fold_of[words]


def _round(
    number: int, scores: _Floats, is_labeled: _Flags, weights: _Floats, seconds: float
) -> Epoch:
    """Return the record of a round: the squared error on words that the model had not seen."""
    errors = weights * np.square(scores - is_labeled)
    total = max(float(weights.sum()), 1e-9)
    positive = float(errors[is_labeled].sum()) / total
    negative = float(errors[~is_labeled].sum()) / total
    speed = len(scores) / max(seconds, 1e-9)
    return Epoch(number, positive + negative, positive, negative, 0.0, seconds, speed)


def _shared_by_surface(scores: _Floats, surfaces: _Numbers, is_open: _Flags) -> _Floats:
    """Return half of each score and half of the mean over the open tokens of the same spelling."""
    count = int(surfaces.max(initial=-1)) + 1
    sums = np.bincount(surfaces[is_open], scores[is_open], count)
    tokens = np.bincount(surfaces[is_open], minlength=count)
    means = (sums / np.maximum(tokens, 1)).astype(np.float32)
    return np.where(is_open, (scores + means[surfaces]) / 2, scores)


def _cut_at(scores: _Floats, open_tokens: _Numbers, likely_count: int, threshold: float) -> _Floats:
    """Return the scores mapped to 0 to 1, so that this many open tokens are above the threshold."""
    values = np.zeros(len(scores), np.float32)
    if not len(open_tokens):
        return values
    order = open_tokens[np.argsort(-scores[open_tokens], kind="stable")]
    likely, unlikely = order[:likely_count], order[likely_count:]
    values[unlikely] = threshold * _ranked(scores[unlikely])
    values[likely] = threshold + (1 - threshold) * np.maximum(_ranked(scores[likely]), 1e-3)
    return values


def _ranked(falling: _Floats) -> _Floats:
    """Return falling numbers on a scale from 1 to 0."""
    if not len(falling):
        return falling
    width = max(float(falling[0] - falling[-1]), 1e-9)
    scale: _Floats = (falling - falling[-1]) / np.float32(width)
    return scale
