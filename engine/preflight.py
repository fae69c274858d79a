"""Labels and settings become a forecast: what cannot work, what is doubtful, how much work it is.

No torch in here, so that a page can ask before it starts anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.methods import CONFIDENCE, METHODS, TRAINING
from engine.settings import Settings
from engine.text import InputError

FEWEST_LABELED = 20  # tokens of a type, below which results are unstable
_MOST_LABELED = 0.9  # share of tokens, above which nothing is left to learn from


def check_labels(labels: npt.NDArray[np.int16], types: Sequence[str]) -> None:
    """Raise InputError for labels that no method can learn from."""
    counts = labeled_tokens(labels, types)
    for name, count in zip(types, counts, strict=True):
        if count == 0:
            raise InputError(
                f"{name} has no labeled token. Add phrases of that type, or leave the type out"
            )
    labeled = sum(counts) / max(len(labels), 1)
    if labeled > _MOST_LABELED:
        raise InputError(
            f"{100 * labeled:.0f} % of tokens are labeled. Learning needs unlabeled text; "
            "is the dictionary full of common words?"
        )


def check_priors(values: npt.NDArray[np.float64]) -> None:
    """Raise InputError unless these priors, one a type, leave room for tokens that are none."""
    if not (values > 0).all() or values.sum() >= 1:
        raise InputError(f"Priors must be > 0 and sum to < 1 (now {values.sum():.2f})")


def label_warnings(labels: npt.NDArray[np.int16], types: Sequence[str]) -> list[str]:
    """Return what a person should know before they wait for a result."""
    return [
        f"{name} has {count:,} labeled tokens; with fewer than {FEWEST_LABELED} results are "
        "unstable"
        for name, count in zip(types, labeled_tokens(labels, types), strict=True)
        if count < FEWEST_LABELED
    ]


def labeled_tokens(labels: npt.NDArray[np.int16], types: Sequence[str]) -> list[int]:
    """Return how many tokens are labeled with each type.

    >>> labeled_tokens(np.array([0, 2, 2], np.int16), ["Chemical", "Disease"])
    [0, 2]
    """
    return [int(n) for n in np.bincount(labels, minlength=len(types) + 1)[1 : len(types) + 1]]


@dataclass(frozen=True, slots=True)
class Work:
    """How much a method has to train."""

    epochs: int  # passes over the text, those of the confidence tagger included
    steps: int  # batches, each followed by a change of the weights


def training_work(method: str, settings: Settings, sentence_count: int) -> Work:
    """Return the work of a method, with one type if it has a tagger per type.

    >>> training_work("mpu", Settings(epochs=10, batch_size=100), 250)
    Work(epochs=10, steps=30)
    """
    epochs = METHODS[method].epochs(settings)
    folds = max(1, settings.confidence_folds)
    # A fold is scored by a tagger that was trained on the others.
    seen = sentence_count if folds == 1 else sentence_count - sentence_count // folds
    sentences = {CONFIDENCE: seen, TRAINING: sentence_count}
    steps = (n * _batches(sentences[stage], settings.batch_size) for stage, n in epochs.items())
    return Work(sum(epochs.values()), sum(steps))


def _batches(sentences: int, batch_size: int) -> int:
    return -(-sentences // batch_size)
