"""Find where the patterns of the dictionaries match, each within a limit of time.

A regular expression is searched in the text of each sentence. A match counts if it begins and ends
with a token, as a phrase does. A token pattern matches as many tokens as it can from its start.
"""

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engine.dictionaries import Expression, Phrase, TokenPattern, compile_pattern, is_pattern
from engine.text import Document, Sentence

SENTENCE_SECONDS = 1.0  # of computing, for one pattern in one sentence
PATTERN_SECONDS = 20.0  # the same, in all sentences
_SHOWN = 80  # characters of a pattern that a note shows


class PatternMatches(NamedTuple):
    """Where patterns match, and notes on those that took too long and match nothing."""

    rows: npt.NDArray[np.int32]  # sentence, start, end, phrase id
    notes: tuple[str, ...]


class _TooLongError(Exception):
    """A pattern has used up its time; the text says where."""


def find_patterns(
    documents: Sequence[Document], phrases: Sequence[Phrase], names: Sequence[str]
) -> PatternMatches:
    """Return all matches of the phrases that are patterns; `names` are their dictionaries."""
    rows: list[tuple[int, int, int, int]] = []
    notes: list[str] = []
    patterns = [id for id, phrase in enumerate(phrases) if is_pattern(phrase.text)]
    sentences = [s for document in documents for s in document.sentences] if patterns else []
    for phrase_id in patterns:
        phrase = phrases[phrase_id]
        try:
            pattern = compile_pattern(phrase.text, SENTENCE_SECONDS)
            rows += [(*place, phrase_id) for place in _places(pattern, sentences)]
        except _TooLongError as fault:
            line = f" line {phrase.line:,}" if phrase.line else ""
            shown = phrase.text if len(phrase.text) <= _SHOWN else f"{phrase.text[:_SHOWN]}…"
            notes.append(
                f"{names[phrase_id]}{line}: the pattern {shown} takes too long ({fault}); "
                "it matches nothing"
            )
    return PatternMatches(np.array(rows, np.int32).reshape(-1, 4), tuple(notes))


def _places(
    pattern: Expression | TokenPattern, sentences: Sequence[Sentence]
) -> list[tuple[int, int, int]]:
    """Return sentence, start and end of every match; all of them, or _TooLongError."""
    places: list[tuple[int, int, int]] = []
    began = time.thread_time()
    for i, sentence in enumerate(sentences):
        if isinstance(pattern, Expression):
            places += ((i, *place) for place in _expression_places(pattern, sentence))
        else:
            places += ((i, *place) for place in _token_places(pattern, sentence.tokens))
        if time.thread_time() - began > PATTERN_SECONDS:
            raise _TooLongError(f"more than {PATTERN_SECONDS:g} s in all sentences")
    return places


def _expression_places(pattern: Expression, sentence: Sentence) -> Iterator[tuple[int, int]]:
    matches = _find(pattern, sentence.text)
    if not matches:
        return
    starts = {start: i for i, start in enumerate(sentence.starts)}
    ends = {
        start + len(token): i + 1
        for i, (start, token) in enumerate(zip(sentence.starts, sentence.tokens, strict=True))
    }
    for first, last in matches:
        if first in starts and last in ends:
            yield starts[first], ends[last]


def _find(pattern: Expression, text: str) -> list[tuple[int, int]]:
    began = time.thread_time()
    while True:
        try:
            return pattern.find(text, SENTENCE_SECONDS)
        except TimeoutError:
            # A busy machine may have spent the time on others; then the pattern tries again.
            if time.thread_time() - began >= SENTENCE_SECONDS / 2:
                raise _TooLongError(f"more than {SENTENCE_SECONDS:g} s in one sentence") from None


def _token_places(pattern: TokenPattern, tokens: Sequence[str]) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(tokens):
        try:
            end = pattern.end(tokens, start)
        except TimeoutError:
            raise _TooLongError(f"more than {SENTENCE_SECONDS:g} s in one token") from None
        if end > start:
            yield start, end
        start = max(end, start + 1)
