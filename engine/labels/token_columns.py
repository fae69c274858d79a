"""All tokens of a text as numbers, because comparing a million strings is slow."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engine.labels.distant import DistantLabels
from engine.text import Sentence

# Enough text to see what is frequent; more costs only time and memory.
_MOST_TOKENS = 1_000_000

_Rows = npt.NDArray[np.intp]
_Flags = npt.NDArray[np.bool_]


class TokenColumns(NamedTuple):
    """One value per token, except where it says otherwise."""

    sentences: Sequence[Sentence]
    sentence: _Rows  # (tokens,), which of the sentences
    place: _Rows  # (tokens,), token index within it
    document: _Rows  # (sentences,)
    word: _Rows  # (tokens,), which of the words
    words: Sequence[str]  # lower case
    is_word: _Flags  # (tokens,), unlabeled and not punctuation
    is_joint: _Flags  # (tokens,), the same, or an unlabeled hyphen
    is_capital: _Flags  # (tokens,)
    is_upper: _Flags  # (tokens,), capitals only
    is_hyphen: _Flags  # (tokens,)
    label: npt.NDArray[np.int16]  # (tokens,)


def token_columns(labels: DistantLabels, sentences: Sequence[Sentence]) -> TokenColumns:
    """Return all sentences, or for a large corpus sentences at equal distances."""
    step = max(1, -(-len(labels.labels) // _MOST_TOKENS))
    chosen = sentences[::step]
    sizes = np.array([len(sentence) for sentence in chosen], dtype=np.intp)
    starts = np.cumsum(sizes) - sizes
    place = np.arange(sizes.sum()) - np.repeat(starts, sizes)
    at = np.repeat(labels.bounds[: len(sentences)][::step], sizes) + place
    is_unlabeled = labels.labels[at] == 0
    if (negatives := labels.known_negatives) is not None:
        is_unlabeled &= ~negatives[at]
    surfaces, numbers = _numbered(chain.from_iterable(sentence.tokens for sentence in chosen))
    words, lower = _numbered(surface.lower() for surface in surfaces)
    is_word = np.array([surface[0].isalnum() for surface in surfaces], dtype=bool)
    is_hyphen = np.array([surface == "-" for surface in surfaces], dtype=bool)
    is_capital = np.array([surface[0].isupper() for surface in surfaces], dtype=bool)
    is_upper = np.array([len(s) > 1 and s.isupper() for s in surfaces], dtype=bool)
    return TokenColumns(
        chosen,
        np.repeat(np.arange(len(chosen)), sizes),
        place,
        _numbered(sentence.document_id for sentence in chosen)[1],
        lower[numbers],
        words,
        is_word[numbers] & is_unlabeled,
        (is_word | is_hyphen)[numbers] & is_unlabeled,
        is_capital[numbers],
        is_upper[numbers],
        is_hyphen[numbers],
        labels.labels[at],
    )


def _numbered(values: Iterator[str]) -> tuple[list[str], _Rows]:
    """Return the distinct values in order of appearance, and the number of each value."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    codes = np.fromiter(map(numbers.__getitem__, values), np.intp)
    return list(numbers), codes
