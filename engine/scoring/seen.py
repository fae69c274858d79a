"""Measure recall separately on gold entities that are in the dictionaries and that are not.

Dictionary matching finds only what the dictionaries list. What a tagger learned beyond that shows
in its recall on entities that are no dictionary phrase.
"""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.labels import DistantLabels
from engine.scoring.checking import wilson_interval
from engine.scoring.pool import Pool
from engine.text import Document

SEEN, UNSEEN = "seen", "unseen"

_PLACE = ("sentence", "start", "end")
_Columns = tuple[npt.NDArray[np.int64], ...]  # sentence, first token, the one after the last, type


def seen_places(
    pool: Pool, name: str, documents: Sequence[Document], labels: DistantLabels
) -> npt.NDArray[np.bool_]:
    """Return which places of the set `name` are phrases of a dictionary under the same type.

    That is where matching found a phrase of that type, whether it became a label or lost to
    another match. `labels` are those of the same documents.
    """
    rows = np.flatnonzero(pool.column(name))
    types = {entity_type: i for i, entity_type in enumerate((*pool.types, *labels.types))}
    asked = _token_places(pool, rows, documents, types)
    matched = _matched_places(labels, types)
    # Compare places as numbers, one per place.
    longest = int(np.diff(labels.bounds).max(initial=0)) + 1
    seen = np.zeros(len(pool.places), dtype=bool)
    numbers, matched_numbers = (_number(places, longest, len(types)) for places in (asked, matched))
    seen[rows] = np.isin(numbers, matched_numbers)
    return seen


def _token_places(
    pool: Pool,
    rows: npt.NDArray[np.int64],
    documents: Sequence[Document],
    types: dict[str, int],
) -> _Columns:
    """Return places of a pool as token indices."""
    sentences = [sentence for document in documents for sentence in document.sentences]
    number, start, end, entity_type = (
        pool.places[column].to_numpy()[rows] for column in ("sentence", "start", "end", "type")
    )
    own = [sentences[i] for i in number.tolist()]
    starts = [sentence.token_bounds()[0] for sentence in own]
    first = [bisect_left(places, at) for places, at in zip(starts, start.tolist(), strict=True)]
    last = [bisect_left(places, at) for places, at in zip(starts, end.tolist(), strict=True)]
    type_numbers = np.array([types[name] for name in pool.types], dtype=np.int64)
    return number, np.array(first, np.int64), np.array(last, np.int64), type_numbers[entity_type]


def _matched_places(labels: DistantLabels, types: dict[str, int]) -> _Columns:
    """Return all places where a phrase occurs, as token indices."""
    names = labels.phrases["entity_type"].map(types).to_numpy(np.int64)
    tables = (labels.matches, labels.shorter)
    columns = [np.concatenate([table[c].to_numpy(np.int64) for table in tables]) for c in _PLACE]
    phrases = np.concatenate([table["phrase"].to_numpy(np.int64) for table in tables])
    return (*columns, names[phrases])


def _number(places: _Columns, longest: int, types: int) -> npt.NDArray[np.int64]:
    sentence, first, last, entity_type = places
    return ((sentence * longest + first) * longest + last) * types + entity_type


def seen_recall(pool: Pool, gold: str, seen: npt.NDArray[np.bool_]) -> pd.DataFrame:
    """Return the recall of every other set on seen and on unseen gold entities.

    Columns: name, group, found, gold, recall (NaN without gold), low, high (Wilson's 95 %).
    """
    in_gold = pool.column(gold)
    rows = []
    for name in pool.names:
        if name == gold:
            continue
        for group, members in ((SEEN, in_gold & seen), (UNSEEN, in_gold & ~seen)):
            total = int(members.sum())
            correct = int((members & pool.column(name)).sum())
            low, high = wilson_interval(correct, total)
            recall = correct / total if total else np.nan
            rows.append((name, group, correct, total, recall, low, high))
    return pd.DataFrame(rows, columns=["name", "group", "found", "gold", "recall", "low", "high"])
