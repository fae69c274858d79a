"""Turn dictionary phrases into bits per token: the types and lengths of phrases it is part of."""

from collections.abc import Collection, Sequence
from itertools import chain

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
    count = sum(map(len, sentences))
    matcher = Matcher(
        dictionaries, options, tokens_given=tokens_given, folding=folding, tokens=count
    )
    starts, lengths, numbers = _phrase_ranges(sentences, matcher, types, window)
    bits = np.zeros((count, len(types) * window), dtype=np.bool_)
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
    type_of = np.array(
        [number_of.get(phrase.entity_type, -1) for phrase in matcher.phrases], np.int64
    )
    bounds = np.cumsum([0, *map(len, sentences)])
    places = matcher.find(list(chain.from_iterable(sentences)), bounds)
    sentence, start, end, phrase_id, _ = places.T.astype(np.int64)
    length, number = end - start, type_of[phrase_id]
    is_used = (length <= window) & (number >= 0)
    return (bounds[sentence] + start)[is_used], length[is_used], number[is_used]
