"""Turn dictionary phrases into bits per token: the types and lengths of phrases it is part of."""

from array import array
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.dictionaries import Dictionary
from engine.labels import Matcher
from engine.settings import MatchOptions


def lexicon_bits(
    sentences: Sequence[Sequence[str]],
    dictionaries: Sequence[Dictionary],
    options: MatchOptions,
    *,
    types: Sequence[str],
    window: int = 4,
    tokens_given: bool = True,
    folding: Collection[str] = (),
) -> NDArray[np.bool_]:
    """Return (tokens, bits) for the tokens of all sentences; `bit_names` names the columns.

    Bit (type, n) of a token says that the token is part of a phrase of that type with n tokens, as
    in the paper. There are no bits for the position in the phrase: each would be set too rarely to
    be learned from few labels, and the LSTM can see the position itself. Nested and overlapping
    phrases all count. Phrases of more than `window` tokens, or of a type that is not in `types`, do
    not, nor do abbreviations that a text defines. `folding` is what the text of the training
    decided about letter case (see `Matcher`): it holds for every text.
    """
    _check(types, window)
    matcher = Matcher(dictionaries, options, tokens_given=tokens_given, folding=folding)
    starts, lengths, numbers = _phrase_ranges(sentences, matcher, types, window)
    bits = np.zeros((sum(map(len, sentences)), len(types) * window), dtype=np.bool_)
    columns = numbers * window + lengths - 1
    for j in range(window):
        is_longer = lengths > j
        bits[starts[is_longer] + j, columns[is_longer]] = True
    return bits


def bit_names(types: Sequence[str], window: int = 4) -> list[str]:
    """Return the names of the bits, in the order of their columns.

    >>> bit_names(["LOC"], window=2)
    ['LOC of 1', 'LOC of 2']
    """
    _check(types, window)
    return [f"{entity_type} of {n}" for entity_type in types for n in range(1, window + 1)]


def _check(types: Sequence[str], window: int) -> None:
    if window < 1:
        raise ValueError(f"window must be at least 1, got {window}")
    if len(set(types)) != len(types):
        raise ValueError(f"types must differ from each other, got {list(types)}")


def _phrase_ranges(
    sentences: Sequence[Sequence[str]], matcher: Matcher, types: Sequence[str], window: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return start (over all tokens), length and index into `types` of every matched phrase."""
    number_of = {entity_type: i for i, entity_type in enumerate(types)}
    type_of = [number_of.get(phrase.entity_type, -1) for phrase in matcher.phrases]
    ranges = array("q")
    offset = 0
    for tokens in sentences:
        for start, end, phrase_ids in matcher.scan(tokens):
            if end - start <= window:
                for number in {type_of[phrase_id] for phrase_id in phrase_ids} - {-1}:
                    ranges.extend((offset + start, end - start, number))
        offset += len(tokens)
    table = np.array(ranges, dtype=np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]
