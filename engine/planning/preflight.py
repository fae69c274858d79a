"""Check labels and priors before training, and estimate how much work the training is.

Without torch, so that a page can ask before it starts anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from engine.planning.methods import CONFIDENCE, METHODS, TRAINING
from engine.settings import ENGLISH, LANGUAGES, Settings
from engine.text import InputError

FEWEST_LABELED = 20  # tokens per type; with fewer, results are unstable
FEW_WORDS = 500  # distinct labeled words; with fewer, a tagger learns them by heart
_SHIPPED_ENCODER = Settings().encoder_name
_FEW_WORDS_DROPOUT = 0.3
_FEW_WORDS_SHARE = 1.3
_MUCH_LACKING = 0.4  # share of the entities; with more, words that look like one may well be one
_MOST_LABELED = 0.9  # share of tokens; above it too little unlabeled text is left to learn from


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
    """Raise InputError unless the priors, one per type, leave room for non-entity tokens."""
    if not (values > 0).all() or values.sum() >= 1:
        raise InputError(f"Priors must be > 0 and sum to < 1 (now {values.sum():.2f})")


def label_warnings(
    labels: npt.NDArray[np.int16],
    types: Sequence[str],
    sentences: Sequence[Sequence[str]],
) -> list[str]:
    """Return warnings to show before the training starts."""
    warnings = [
        f"{name} has {count:,} labeled tokens; with fewer than {FEWEST_LABELED} results are "
        "unstable"
        for name, count in zip(types, labeled_tokens(labels, types), strict=True)
        if count < FEWEST_LABELED
    ]
    words = labeled_words(sentences, labels)
    if words < FEW_WORDS:
        warnings.append(
            f"Only {words:,} distinct {'word is' if words == 1 else 'words are'} labeled; a larger "
            "dictionary helps most"
        )
    return warnings


def language_warnings(code: str, encoder: str = _SHIPPED_ENCODER) -> list[str]:
    """Return a warning if the shipped encoder and word vectors do not know the language.

    >>> language_warnings("de")[0][:58]
    'The text is German, and the shipped encoder and word vecto'
    """
    if code == ENGLISH or encoder != _SHIPPED_ENCODER:
        return []
    return [
        f"The text is {LANGUAGES[code]}, and the shipped encoder and word vectors know English "
        "only; a multilingual model from Hugging Face (encoder_name) finds more"
    ]


def labeled_words(sentences: Sequence[Sequence[str]], labels: npt.NDArray[np.int16]) -> int:
    """Return how many distinct words are labeled; letter case does not count.

    >>> labeled_words([["Gout", "and", "gout"], ["rash"]], np.array([1, 0, 1, 2], np.int16))
    2
    """
    tokens = (token for tokens in sentences for token in tokens)
    return len({token.casefold() for token, label in zip(tokens, labels, strict=True) if label})


def suited_settings(
    settings: Settings,
    sentences: Sequence[Sequence[str]],
    labels: npt.NDArray[np.int16],
    entity_prior: float,
) -> Settings:
    """Return the settings that are used on these labels.

    With few labeled words, a tagger would learn them by heart: part of its inputs is hidden, it
    sees the labeled sentences once more with other phrases of the dictionaries, and more of the
    likely entities are left out of the negatives.

    With many, it matters how they are written. What looks like a name, with its capital, is one,
    listed or not. Other words only look alike, and a dictionary that has most of them lacks the
    rest for a reason: above a coverage of 60 %, the share that is left out falls to none.
    """
    if not settings.is_suited_to_labels:
        return settings
    share = settings.confidence_share
    if labeled_words(sentences, labels) < FEW_WORDS:
        return replace(
            settings,
            dropout=max(settings.dropout, _FEW_WORDS_DROPOUT),
            mention_copies=max(settings.mention_copies, 1),
            confidence_share=share * _FEW_WORDS_SHARE,
        )
    if _are_capitalized(sentences, labels):
        return settings
    coverage = min(float((labels > 0).mean()) / max(entity_prior, 1e-9), 1.0)
    lacking = min((1 - coverage) / _MUCH_LACKING, 1.0)
    return replace(settings, confidence_share=share * lacking)


def _are_capitalized(sentences: Sequence[Sequence[str]], labels: npt.NDArray[np.int16]) -> bool:
    """Return whether at least half of the labeled tokens begin with a capital.

    The first tokens of sentences do not count: they have one anyway.
    """
    is_labeled = iter((labels > 0).tolist())
    capitals = [
        token[:1].isupper()
        for tokens in sentences
        for i, (token, counts) in enumerate(zip(tokens, is_labeled, strict=False))
        if counts and i
    ]
    return 2 * sum(capitals) >= len(capitals)


def labeled_tokens(labels: npt.NDArray[np.int16], types: Sequence[str]) -> list[int]:
    """Return how many tokens are labeled with each type.

    >>> labeled_tokens(np.array([0, 2, 2], np.int16), ["Chemical", "Disease"])
    [0, 2]
    """
    return [int(n) for n in np.bincount(labels, minlength=len(types) + 1)[1 : len(types) + 1]]


@dataclass(frozen=True, slots=True)
class TrainingWork:
    """How much training a method needs."""

    epochs: int  # passes over the text, including those of the confidence taggers
    steps: int  # batches, each with one update of the weights


def training_work(
    method: str, settings: Settings, sentence_count: int, *, types: int = 1
) -> TrainingWork:
    """Return the work of a method; one with a tagger per type has more of it the more types.

    >>> training_work("mpu", Settings(epochs=10, batch_size=100), 250)
    TrainingWork(epochs=10, steps=30)
    """
    epochs = METHODS[method].epochs(settings, types)
    folds = max(1, settings.confidence_folds)
    # Each fold is scored by a tagger that was trained on the other folds.
    seen = sentence_count if folds == 1 else sentence_count - sentence_count // folds
    if settings.confidence_model == "linear":
        seen = 0  # its rounds update no weights
    sentences = {CONFIDENCE: seen, TRAINING: sentence_count}
    steps = (n * _batches(sentences[stage], settings.batch_size) for stage, n in epochs.items())
    return TrainingWork(sum(epochs.values()), sum(steps))


def _batches(sentences: int, batch_size: int) -> int:
    return -(-sentences // batch_size)
