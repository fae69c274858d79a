"""Let what an abbreviation stands for decide with it whether it is an entity, and which.

"atrial fibrillation (AF)" says that AF is the same thing, wherever the document has it. A tagger
sees every place by itself, and knows the long form better than three letters.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from engine.labels import find_definitions, find_short_forms
from engine.network import sentence_bounds
from engine.text import Document

_Probs = npt.NDArray[np.float32]


def with_short_forms(documents: Sequence[Document], probs: _Probs) -> _Probs:
    """Return the (tokens, classes) probabilities, those of short forms with what they stand for.

    All places of a short form in a document get the same ones. Half of them is the mean over the
    long forms where they are defined, half the mean over these places.
    """
    shared, first = probs, 0
    for document in documents:
        sentences = tuple(document.tokens_by_sentence())
        bounds = first + sentence_bounds(sentences)
        first = int(bounds[-1])
        defined = _long_forms(sentences, bounds)
        if defined and shared is probs:
            shared = probs.copy()
        for short, places in find_short_forms(defined, sentences).items():
            shorts = [slice(bounds[i] + start, bounds[i] + end) for i, start, end in places]
            mean = (_mean(probs, shorts) + _mean(probs, defined[short])) / 2
            for place in shorts:
                shared[place] = mean
    return shared


def _long_forms(
    sentences: Sequence[tuple[str, ...]], bounds: npt.NDArray[np.int64]
) -> dict[tuple[str, ...], list[slice]]:
    """Return the tokens of the long forms that each short form stands for."""
    defined: dict[tuple[str, ...], list[slice]] = {}
    for tokens, first in zip(sentences, bounds.tolist(), strict=False):
        for short, (start, end) in find_definitions(tokens) if "(" in tokens else ():
            defined.setdefault(tokens[slice(*short)], []).append(slice(first + start, first + end))
    return defined


def _mean(probs: _Probs, places: Sequence[slice]) -> _Probs:
    """Return the mean over places, each with the mean of its tokens."""
    mean: _Probs = np.mean([probs[place].mean(axis=0) for place in places], axis=0)
    return mean
