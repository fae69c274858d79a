"""Teach a tagger without a transformer to predict what a tagger with one predicts.

The twin learns the teacher's probabilities on unlabeled text, so that more text makes it better.
Some sentences are held out; on them, the twin's spans are compared with the teacher's.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import nn

from engine.learning.assembly import make_tagger
from engine.learning.decoding import predictions
from engine.learning.distillation import fit_to_probabilities
from engine.learning.progress import schedule
from engine.learning.training import Epoch
from engine.network import WordInputs, has_encoder, predict_probabilities
from engine.planning import METHODS
from engine.settings import Settings
from engine.text import InputError

_MOST_EPOCHS, _FEWEST_EPOCHS = 20, 3
_TOKENS_TO_SEE = 4_000_000  # in all epochs; a longer text is seen a few times only
_HELD_OUT = 0.05  # share of the sentences
_MOST_HELD_OUT = 2_000

_Probs = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Distilled:
    """A twin's tagger, and how it learned."""

    tagger: nn.Module
    history: tuple[Epoch, ...]
    agreement: float | None  # F1 of its spans against the teacher's, 0 to 1; None without spans


def twin_settings(teacher: Settings, token_count: int) -> Settings:
    """Return the settings of a run's twin: no transformer, one tagger, nothing hidden from it.

    Raises InputError for a run that has no transformer, and for methods whose taggers do not give
    one probability per type.
    """
    if not has_encoder(teacher):
        raise InputError("the run has no transformer, so it is as fast as a twin would be. Use it")
    method = METHODS[teacher.method]
    if method.has_tagger_per_type or method.predicts_ties:
        raise InputError(f"a run of {method.title} cannot have a twin. Take one of Conf-MPU or MPU")
    epochs = round(_TOKENS_TO_SEE / max(token_count, 1))
    return replace(
        teacher,
        encoder="bilstm",
        contextual_layer=0,
        encoder_precision="float32",
        loss="cross_entropy",
        ensemble=1,
        mention_copies=0,
        is_label_checked=False,
        is_suited_to_labels=False,
        is_prior_matched=False,
        is_self_trained=False,
        epochs=min(max(epochs, _FEWEST_EPOCHS), _MOST_EPOCHS),
        batch_size=32,
        learning_rate=2e-3,
        learning_rate_schedule="linear",
        lexicon_dropout=0.0,
        character_dropout=0.0,
        dropout=0.2,
        hidden_size=200,
    )


def distill(
    inputs: WordInputs,
    probs: _Probs,
    types: Sequence[str],
    settings: Settings,
    *,
    on_epoch: Callable[[Epoch], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Distilled:
    """Train a tagger to predict `probs`, the teacher's (tokens, classes), from the inputs."""
    learned, held_out = _split(len(inputs), settings.seed)
    tagger = make_tagger(inputs, len(types) + 1, settings, settings.seed, inputs.device)
    plan = replace(schedule(settings), epochs=settings.epochs)
    history = fit_to_probabilities(
        tagger, inputs, probs, plan, only=learned, on_epoch=on_epoch, should_stop=should_stop
    )
    predicted = predict_probabilities(tagger, inputs, only=held_out)
    agreement = span_agreement(predicted, probs, inputs.bounds, held_out, types)
    return Distilled(tagger, tuple(history), agreement)


def span_agreement(
    ours: _Probs,
    theirs: _Probs,
    bounds: npt.NDArray[np.int64],
    sentences: npt.NDArray[np.int64],
    types: Sequence[str],
) -> float | None:
    """Return the F1 of our spans against theirs in some sentences; None if neither has any."""
    counts = np.zeros(3, np.int64)  # ours, theirs, both
    for i in sentences:
        part = slice(int(bounds[i]), int(bounds[i + 1]))
        ends = np.array([0, part.stop - part.start])
        both = [
            {prediction.span for prediction in predictions(probs[part], ends, types)[0]}
            for probs in (ours, theirs)
        ]
        counts += [len(both[0]), len(both[1]), len(both[0] & both[1])]
    total = int(counts[0] + counts[1])
    return 2 * int(counts[2]) / total if total else None


def _split(count: int, seed: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the sentences to learn from and those held out; the only one is learned from."""
    order = np.random.default_rng(seed).permutation(count)
    size = min(round(_HELD_OUT * count), _MOST_HELD_OUT, count - 1)
    return np.sort(order[size:]), np.sort(order[:size])
