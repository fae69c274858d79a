"""Train a tagger to predict the probabilities that another one predicts.

Probabilities say more than labels: which tokens the other tagger was unsure of, and between what.
A student that learns them, with much of its inputs hidden, is better than its teacher.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from engine.learning.risk import Risk
from engine.learning.training import Epoch, Schedule, fit
from engine.network import Inputs
from engine.settings import Settings

_STUDENT_DROPOUT = 0.4


def student_settings(settings: Settings) -> Settings:
    """Return the settings of a run's student: more dropout, and all lexicon bits.

    Its targets are not the labels, so the bits do not give them away.
    """
    dropout = max(settings.dropout, _STUDENT_DROPOUT)
    return replace(settings, dropout=dropout, lexicon_dropout=0.0)


def lessons_from(
    probs: npt.NDArray[np.float32],
    labels: npt.NDArray[np.int16],
    known_negatives: npt.NDArray[np.bool_] | None,
) -> npt.NDArray[np.float32]:
    """Return what a student learns: the teacher's probabilities, and half of each known label.

    >>> lessons_from(np.array([[0.5, 0.5], [0.5, 0.5]], np.float32), np.array([0, 1]), None)
    array([[0.5 , 0.5 ],
           [0.25, 0.75]], dtype=float32)
    """
    is_known = labels > 0 if known_negatives is None else (labels > 0) | known_negatives
    lessons = probs.copy()
    lessons[is_known] = (probs[is_known] + np.eye(probs.shape[1])[labels[is_known]]) / 2
    return lessons


def fit_to_probabilities(
    tagger: nn.Module,
    inputs: Inputs,
    probs: npt.NDArray[Any],
    schedule: Schedule,
    *,
    only: npt.NDArray[np.int64] | None = None,
    checkpoint: Path | None = None,
    on_epoch: Callable[[Epoch], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> list[Epoch]:
    """Train `tagger` to predict `probs`, (tokens, classes), as `fit` trains on labels."""
    targets = torch.from_numpy(probs)

    def risk_of(logits: Tensor, tokens: Tensor) -> Risk:
        return soft_risk(logits, targets[tokens.cpu()].to(logits.device, torch.float32))

    return fit(
        tagger,
        inputs,
        risk_of,
        schedule,
        only=only,
        checkpoint=checkpoint,
        on_epoch=on_epoch,
        should_stop=should_stop,
    )


def soft_risk(logits: Tensor, targets: Tensor) -> Risk:
    """Return the mean cross-entropy against probabilities, both (tokens, classes).

    >>> risk = soft_risk(torch.zeros(1, 2), torch.tensor([[0.25, 0.75]]))
    >>> round(risk.objective.item(), 4)
    0.6931
    """
    total = -(targets * logits.log_softmax(dim=1)).sum(dim=1).mean()
    zero = logits.new_zeros(())
    return Risk(total, total, zero, zero)
