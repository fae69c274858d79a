"""Estimate the confidence (lambda) of every token with entity / non-entity taggers."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from engine.learning.risk import Risk, mpu_risk, with_known_negatives
from engine.learning.training import Epoch, Schedule, fit
from engine.network import Inputs, predict_probabilities
from engine.run_folder import confidence_checkpoint
from engine.settings import Settings

_MARGIN = 1e-6  # kept from 0 and 1, which a float32 softmax reaches but an estimate should not

MakeTagger = Callable[[int, int], nn.Module]  # (classes, seed) -> a fresh tagger


@dataclass(frozen=True, slots=True)
class Confidence:
    """How likely each token is to be part of an entity, whatever its type."""

    values: npt.NDArray[np.float32]  # (tokens,), lambda, above 0 and below 1
    histories: tuple[tuple[Epoch, ...], ...]  # one per tagger: by seed, then by fold


def network_confidence(
    inputs: Inputs,
    labels: npt.NDArray[np.int16],
    entity_prior: float,
    settings: Settings,
    make_tagger: MakeTagger,
    *,
    known_negatives: npt.NDArray[np.bool_] | None = None,
    checkpoint: Path | None = None,
    on_epoch: Callable[[Epoch], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Confidence:
    """Return lambda of every token, from taggers trained on the binary PU risk (eq. 2).

    `entity_prior` is P(class > 0). With folds, a token is scored only by taggers that were not
    trained on its sentence; without, by one that was. Several seeds are averaged. The epochs that
    `on_epoch` gets are numbered through all taggers. Each tagger has its own checkpoint beside
    `checkpoint`, from which a second call continues. Tokens that a person marked as no entity
    (`known_negatives`) get a confidence of about 0, whatever the taggers say.
    """
    is_negative = None if known_negatives is None else torch.from_numpy(known_negatives)
    is_labeled = torch.from_numpy((labels > 0).astype(np.int64))
    values = np.zeros(len(labels), np.float64)
    histories: list[tuple[Epoch, ...]] = []
    for number in range(settings.confidence_seeds):
        seed = settings.seed + 1_000 * (number + 1)
        for train, score in _folds(len(inputs.bounds) - 1, settings.confidence_folds, seed):
            tagger = make_tagger(2, seed)
            before = len(histories) * settings.confidence_epochs
            history = fit(
                tagger,
                inputs,
                _binary_risk(is_labeled, is_negative, entity_prior, settings, tagger),
                confidence_schedule(settings, seed),
                only=train,
                checkpoint=checkpoint and confidence_checkpoint(checkpoint, len(histories)),
                on_epoch=_with_offset(before, on_epoch),
                should_stop=should_stop,
            )
            histories.append(tuple(history))
            _add_scores(values, tagger, inputs, score)
    values /= settings.confidence_seeds
    if known_negatives is not None:
        values[known_negatives] = 0
    return Confidence(within_bounds(values), tuple(histories))


def within_bounds(values: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float32]:
    """Return estimates of a probability that keep away from 0 and 1."""
    return values.clip(_MARGIN, 1 - _MARGIN).astype(np.float32)


def _with_offset(
    before: int, on_epoch: Callable[[Epoch], None] | None
) -> Callable[[Epoch], None] | None:
    if on_epoch is None:
        return None
    return lambda epoch: on_epoch(replace(epoch, number=before + epoch.number))


def confidence_schedule(settings: Settings, seed: int) -> Schedule:
    """Return the training schedule of a confidence tagger."""
    return Schedule(
        epochs=settings.confidence_epochs,
        batch_size=settings.batch_size,
        learning_rate=settings.confidence_learning_rate,
        decay=settings.learning_rate_decay,
        is_linear=settings.learning_rate_schedule == "linear",
        seed=seed,
    )


def _binary_risk(
    is_labeled: Tensor,
    is_negative: Tensor | None,
    entity_prior: float,
    settings: Settings,
    tagger: nn.Module,
) -> Callable[[Tensor, Tensor], Risk]:
    device = next(tagger.parameters()).device
    is_labeled = is_labeled.to(device)
    is_negative = None if is_negative is None else is_negative.to(device)
    priors = torch.tensor([1 - entity_prior, entity_prior], device=device)

    def risk_of(logits: Tensor, tokens: Tensor) -> Risk:
        probs, labels = logits.softmax(dim=1), is_labeled[tokens]
        risk = mpu_risk(
            probs,
            labels,
            priors,
            entity_weight=settings.confidence_weight,
            loss=settings.loss,
            is_one_sample=settings.is_one_sample,
            bound=settings.negative_bound,
        )
        if is_negative is None:
            return risk
        weight = settings.confidence_weight
        return with_known_negatives(
            risk, probs, labels, is_negative[tokens], weight=weight, loss=settings.loss
        )

    return risk_of


_Sentences = npt.NDArray[np.int64]


def _folds(
    sentences: int, folds: int, seed: int
) -> list[tuple[_Sentences | None, _Sentences | None]]:
    """Return (sentences to train on, sentences to score) per fold; None = all."""
    if folds < 2:
        return [(None, None)]
    fold_of = np.random.default_rng(seed).permutation(sentences) % folds
    return [(np.flatnonzero(fold_of != k), np.flatnonzero(fold_of == k)) for k in range(folds)]


def _add_scores(
    values: npt.NDArray[np.float64], tagger: nn.Module, inputs: Inputs, only: _Sentences | None
) -> None:
    # The last column is that of entities; it is the only one if there is nothing to score.
    probs = predict_probabilities(tagger, inputs, only=only)[:, -1]
    if only is None:
        values += probs
        return
    is_scored = np.zeros(len(inputs.bounds) - 1, bool)
    is_scored[only] = True
    is_scored_token = np.repeat(is_scored, np.diff(inputs.bounds))
    values[is_scored_token] += probs[is_scored_token]
