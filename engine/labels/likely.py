"""Unlabeled tokens that are likely entities: how many they are, and which names they form.

A linear model scores every token before any network is trained (`learning.missing_names`). What it
says is kept here as columns, without torch, so that a page can cut it anew at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.dictionaries import is_stop_word
from engine.settings import MOST_LIKELY
from engine.text import Document, Entity, Sentence, Span, spans_from_classes

LIKELY = "likely"  # the method that such names are said to be found by

_Flags = npt.NDArray[np.bool_]
_Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class DoubtfulPhrase:
    """A phrase whose matches the text contradicts."""

    phrase: str
    entity_type: str
    match_count: int
    looks_like: str  # another type, or "" for no entity at all

    def __str__(self) -> str:
        looks = f"looks like {self.looks_like}" if self.looks_like else "an everyday word"
        matches = "1 match" if self.match_count == 1 else f"{self.match_count:,} matches"
        return f'"{self.phrase}" ({self.entity_type}, {matches}, {looks})'


@dataclass(frozen=True, slots=True)
class LikelyTokens:
    """What a linear model says about every token of a text, one row per token."""

    confidence: npt.NDArray[np.float16]  # lambda
    types: npt.NDArray[np.int16]  # class number of the type it would have, never 0
    margins: npt.NDArray[np.float16]  # how far that type is ahead of the next one, 0 to 1
    is_open: _Flags  # no dictionary labels it, and no person rejected it
    entity_types: tuple[str, ...]
    share: float  # of the open tokens: how many are entities if the priors are right
    factor: float = 1.0  # how much of that share training leaves out of the negatives

    def __len__(self) -> int:
        return len(self.confidence)

    @property
    def open_count(self) -> int:
        return int(self.is_open.sum())

    def count(self, factor: float = 1.0, share: float | None = None) -> int:
        """Return how many open tokens are likely: `factor` times what training leaves out.

        `share` stands in for the stored share when other priors are given.
        """
        share = self.share if share is None else share
        return round(min(factor * self.factor * share, MOST_LIKELY) * self.open_count)

    def ranked(self) -> _Numbers:
        """Return the open tokens, the likeliest first."""
        tokens = np.flatnonzero(self.is_open)
        order: _Numbers = tokens[np.argsort(-self.confidence[tokens], kind="stable")]
        return order

    def classes(self, count: int) -> npt.NDArray[np.int16]:
        """Return the type of the `count` likeliest open tokens, and 0 for all others."""
        classes = np.zeros(len(self), np.int16)
        likely = self.ranked()[:count]
        classes[likely] = self.types[likely]
        return classes


def likely_histogram(likely: LikelyTokens, ranked: _Numbers, bins: int = 40) -> pd.DataFrame:
    """Return how many of these tokens have each confidence, by type: low, high, one per type."""
    values = likely.confidence[ranked].astype(np.float64)
    edges = np.linspace(values.min(initial=1.0), values.max(initial=0.0), bins + 1)
    if not len(ranked) or edges[0] == edges[-1]:
        edges = np.linspace(0.0, 1.0, bins + 1)
    table = pd.DataFrame({"low": edges[:-1], "high": edges[1:]})
    for number, name in enumerate(likely.entity_types, start=1):
        table[name] = np.histogram(values[likely.types[ranked] == number], edges)[0]
    return table


def words_near_cut(
    sentences: Sequence[Sentence], ranked: _Numbers, count: int, most: int = 8
) -> tuple[list[str], list[str]]:
    """Return the words just above and just below a cut after `count` tokens, nearest first."""
    bounds = np.cumsum([0, *(len(sentence) for sentence in sentences)])
    return (
        _distinct_words(sentences, bounds, ranked[:count][::-1], most),
        _distinct_words(sentences, bounds, ranked[count:], most),
    )


def _distinct_words(
    sentences: Sequence[Sentence], bounds: _Numbers, tokens: _Numbers, most: int
) -> list[str]:
    words: dict[str, None] = {}
    for token in tokens.tolist():
        if len(words) == most:
            break
        i = int(np.searchsorted(bounds, token, "right")) - 1
        place = token - int(bounds[i])
        word = sentences[i].surface(place, place + 1)
        if any(map(str.isalpha, word)):
            words[word] = None
    return list(words)


class LikelyName(NamedTuple):
    """A place where a name may be that no dictionary holds."""

    document_id: str
    entity: Entity  # its score is the mean confidence
    margin: float  # mean, of its tokens


def likely_names(
    documents: Sequence[Document], likely: LikelyTokens, factor: float = 1.0
) -> list[LikelyName]:
    """Return the names that neighbouring likely tokens of one type form, in text order.

    A hyphen between two of them belongs to the name. Function words and punctuation at its ends do
    not. A name has at least one letter.
    """
    sentences = [sentence for document in documents for sentence in document.sentences]
    bounds = np.cumsum([0, *(len(sentence) for sentence in sentences)])
    classes = likely.classes(likely.count(factor))
    names = []
    for sentence, first, last in zip(sentences, bounds[:-1], bounds[1:], strict=True):
        if not classes[first:last].any():
            continue
        tokens = sentence.tokens
        joined = _over_hyphens(tokens, classes[first:last], likely.is_open[first:last])
        for span in spans_from_classes(joined, likely.entity_types):
            if (name := _trimmed(tokens, span)) is None:
                continue
            here = slice(first + name.start, first + name.end)
            score = float(likely.confidence[here].mean(dtype=np.float32))
            entity = Entity(*sentence.offsets(name), name.entity_type, score, LIKELY)
            margin = float(likely.margins[here].mean(dtype=np.float32))
            names.append(LikelyName(sentence.document_id, entity, margin))
    return names


def _over_hyphens(
    tokens: Sequence[str], classes: npt.NDArray[np.int16], is_open: _Flags
) -> npt.NDArray[np.int16]:
    joined = classes.copy()
    for i in range(1, len(classes) - 1):
        is_joint = tokens[i] == "-" and is_open[i] and not classes[i]
        if is_joint and classes[i - 1] == classes[i + 1]:
            joined[i] = classes[i - 1]
    return joined


def _trimmed(tokens: Sequence[str], span: Span) -> Span | None:
    """Return the span without function words and punctuation at its ends; None if no word stays."""
    first, last = span.start, span.end
    while first < last and _is_filler(tokens[first]):
        first += 1
    while first < last and _is_filler(tokens[last - 1]):
        last -= 1
    has_letters = any(any(map(str.isalpha, token)) for token in tokens[first:last])
    return Span(first, last, span.entity_type) if has_letters else None


def _is_filler(token: str) -> bool:
    return is_stop_word(token.lower()) or not any(map(str.isalnum, token))
