"""Gold entities are told apart by whether the dictionaries hold them, and recall with them.

Dictionary matching finds only what it holds. What a tagger learned beyond that shows in its recall
on entities that no phrase names.
"""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.checking import wilson_interval
from engine.dictionary import Dictionary
from engine.matching import Matcher
from engine.pool import Pool
from engine.settings import MATCH_PRESETS, MatchOptions
from engine.text import Document

SEEN, UNSEEN = "seen", "unseen"


def seen_places(
    pool: Pool,
    name: str,
    documents: Sequence[Document],
    dictionaries: Sequence[Dictionary],
    options: MatchOptions | str,
) -> npt.NDArray[np.bool_]:
    """Return which places the set `name` marks with words that a dictionary holds under that type.

    Words are compared as in matching: folded by the options, token by token.
    """
    default = MATCH_PRESETS[options] if isinstance(options, str) else options
    matchers = {
        given: Matcher(dictionaries, default, tokens_given=given)
        for given in {document.tokens_given for document in documents}
    }
    seen = np.zeros(len(pool.places), dtype=bool)
    known: dict[tuple[bool, tuple[str, ...]], frozenset[str]] = {}
    rows = np.flatnonzero(pool.column(name))
    columns = ("document", "sentence", "start", "end", "type")
    first_sentence = np.cumsum([0, *(len(document.sentences) for document in documents)])
    for row, d, s, start, end, number in zip(
        rows.tolist(), *(pool.places[c].to_numpy()[rows].tolist() for c in columns), strict=True
    ):
        document = documents[d]
        sentence = document.sentences[s - int(first_sentence[d])]
        first = bisect_left(sentence.starts, start - sentence.start)
        last = bisect_left(sentence.starts, end - sentence.start)
        tokens = sentence.tokens[first:last]
        key = (document.tokens_given, tokens)
        if key not in known:
            known[key] = _types_of(tokens, matchers[document.tokens_given])
        seen[row] = pool.types[number] in known[key]
    return seen


def seen_recall(pool: Pool, gold: str, seen: npt.NDArray[np.bool_]) -> pd.DataFrame:
    """Return the recall of every other set on gold entities that are seen, and on those unseen.

    Columns: name, group, found, gold, recall (NaN without gold), low, high (Wilson's 95 %).
    """
    in_gold = pool.column(gold)
    rows = []
    for name in pool.names:
        if name == gold:
            continue
        for group, members in ((SEEN, in_gold & seen), (UNSEEN, in_gold & ~seen)):
            total = int(members.sum())
            found = int((members & pool.column(name)).sum())
            low, high = wilson_interval(found, total)
            recall = found / total if total else np.nan
            rows.append((name, group, found, total, recall, low, high))
    return pd.DataFrame(rows, columns=["name", "group", "found", "gold", "recall", "low", "high"])


def _types_of(tokens: tuple[str, ...], matcher: Matcher) -> frozenset[str]:
    """The types of the phrases that are all of these tokens, not a part of them."""
    return frozenset(
        matcher.phrases[id].entity_type
        for start, end, ids in matcher.scan(tokens)
        if (start, end) == (0, len(tokens))
        for id in ids
    )
