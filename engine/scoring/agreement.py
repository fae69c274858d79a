"""Compare entity sets: which agree, how often, and where they do not."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.scoring.pool import Pool, choose, keep_places

NONE = "none"  # the row and column of a confusion that stand for "no entity"


# ---- agreement of sets ----------------------------------------------------------------------


def agreement_matrix(pool: Pool) -> pd.DataFrame:
    """Return the Jaccard index of each pair of sets: places of both over places of either.

    NaN if both are empty: there is nothing to agree on.
    """
    marked = pool.is_marked.astype(np.float64)
    both = marked.T @ marked
    sizes = np.diag(both)
    either = sizes[:, None] + sizes[None, :] - both
    with np.errstate(invalid="ignore"):
        shares = both / either
    return pd.DataFrame(shares, index=list(pool.names), columns=list(pool.names))


def combinations(pool: Pool) -> pd.DataFrame:
    """Return how many places each combination of sets marks, the most frequent first.

    Columns: one of bools per set, under its name, then `places`. Combinations without places are
    left out.
    """
    bits = 1 << np.arange(len(pool.names))[::-1]  # the first set is the highest bit
    codes, counts = np.unique(pool.is_marked @ bits, return_counts=True)
    order = np.lexsort((-codes, -counts))
    patterns = (codes[order, None] & bits) > 0
    table = pd.DataFrame(patterns, columns=list(pool.names))
    return table.assign(places=counts[order])


def entity_counts(pool: Pool) -> pd.DataFrame:
    """Return how many entities each set has, one row per type and one for all types.

    Columns: name, entity_type ("" for all), entities, mean_score (NaN if a set has none).
    """
    number = pool.places["type"].to_numpy()
    rows = []
    for i, name in enumerate(pool.names):
        marked = pool.is_marked[:, i]
        own, of_type = pool.scores[marked, i], number[marked]
        known = ~np.isnan(own)
        entities = np.bincount(of_type, minlength=len(pool.types))
        scored = np.bincount(of_type[known], minlength=len(pool.types))
        sums = np.bincount(of_type[known], weights=own[known], minlength=len(pool.types))
        figures = [("", entities.sum(), scored.sum(), sums.sum())]
        figures += zip(pool.types, entities, scored, sums, strict=True)
        for entity_type, count, with_score, total in figures:
            mean = float(total / with_score) if with_score else np.nan
            rows.append((name, entity_type, int(count), mean))
    return pd.DataFrame(rows, columns=["name", "entity_type", "entities", "mean_score"])


def found_alone(pool: Pool) -> pd.DataFrame:
    """Return, per set: entities, those that only it marks, and those that all others mark.

    Columns: name, entities, only_here, only_missing.
    """
    marked = pool.is_marked.sum(axis=1)
    alone = pool.is_marked & (marked == 1)[:, None]
    missing = ~pool.is_marked & (marked == len(pool.names) - 1)[:, None]
    return pd.DataFrame(
        {
            "name": list(pool.names),
            "entities": pool.is_marked.sum(axis=0),
            "only_here": alone.sum(axis=0),
            "only_missing": missing.sum(axis=0),
        }
    )


def disputed(pool: Pool) -> npt.NDArray[np.bool_]:
    """Return which places are marked by some of the sets but not by all."""
    return np.asarray(~pool.is_marked.all(axis=1))


def disagreement(pool: Pool) -> npt.NDArray[np.int64]:
    """Return the number of disputed places per sentence of the corpus."""
    sentences = pool.places["sentence"].to_numpy()[disputed(pool)]
    return np.bincount(sentences, minlength=pool.sentence_count)


def confusion(pool: Pool, rows: str, columns: str) -> pd.DataFrame:
    """Return how the types of one set correspond to the types of another.

    An entity of `rows` counts once, under the type of the entity of `columns` that it shares most
    characters with, or under none. Entities of `columns` that touch nothing are in the row none.
    """
    a, b = choose(pool, [rows]).places, choose(pool, [columns]).places
    met = _most_shared(a, b)
    alone = _most_shared(b, a) < 0
    types = len(pool.types)
    b_types = np.append(b["type"].to_numpy(), types)  # -1 picks the last one: none
    counts = np.zeros((types + 1, types + 1), dtype=np.int64)
    np.add.at(counts, (a["type"].to_numpy(), b_types[met]), 1)
    counts[types] += np.bincount(b["type"].to_numpy()[alone], minlength=types + 1)
    names = [*pool.types, NONE]
    return pd.DataFrame(counts, index=names, columns=names)


def _most_shared(a: pd.DataFrame, b: pd.DataFrame) -> npt.NDArray[np.int64]:
    """Return, per row of `a`, the row of `b` that shares most characters with it, or -1."""
    b_start = b["position"].to_numpy()
    b_end = b_start + (b["end"] - b["start"]).to_numpy()
    a_start = a["position"].to_numpy()
    a_end = a_start + (a["end"] - a["start"]).to_numpy()
    # Entities of a set seldom overlap; if they do, the furthest end so far keeps the order.
    first = np.searchsorted(np.maximum.accumulate(b_end), a_start, side="right")
    last = np.searchsorted(b_start, a_end, side="left")
    met = np.where(last > first, first, -1)
    for i in np.flatnonzero(last - first > 1).tolist():
        others = slice(int(first[i]), int(last[i]))
        shared = np.minimum(b_end[others], a_end[i]) - np.maximum(b_start[others], a_start[i])
        met[i] = others.start + int(shared.argmax())
    return met


# ---- two sets -------------------------------------------------------------------------------


def changed_entities(pool: Pool, before: str, after: str) -> pd.DataFrame:
    """Return what one set marks and the other does not, in reading order.

    Columns: document (id), sentence, start, end, before, after (types, "" for none), score_before,
    score_after. A place where only the type differs is one row.
    """
    two = choose(pool, [before, after])
    two = keep_places(two, disputed(two))
    keys = ["document", "sentence", "start", "end"]
    stretches = two.places[["document", "start", "end"]].to_numpy()
    is_new = np.ones(len(stretches), dtype=bool)
    is_new[1:] = (stretches[1:] != stretches[:-1]).any(axis=1)
    first = np.flatnonzero(is_new)
    table = two.places[keys].iloc[first].reset_index(drop=True)
    types, number = np.array([*two.types, ""], dtype=object), two.places["type"].to_numpy()
    for i, side in enumerate(("before", "after")):
        # A side has at most one type per stretch; -1 stands for none and is less than any other.
        own = np.where(two.is_marked[:, i], number, -1)
        table[side] = types[np.maximum.reduceat(own, first) if len(first) else first]
        scores = np.fmax.reduceat(two.scores[:, i], first) if len(first) else first
        table[f"score_{side}"] = np.asarray(scores, dtype=np.float64)
    ids = np.array([*two.document_ids, ""], dtype=object)
    table["document"] = ids[table["document"].to_numpy()]
    return table[[*keys, "before", "after", "score_before", "score_after"]]


def types_at(pool: Pool, name: str, table: pd.DataFrame) -> list[str]:
    """Return the type that a set gives to each row's stretch, "" where it marks nothing.

    table: document (id), start, end, as `changed_entities` has them.
    """
    own = choose(pool, [name]).places
    keys = zip(*(own[column].tolist() for column in ("document", "start", "end")), strict=True)
    types = dict(zip(keys, own["type"].tolist(), strict=True))
    number = {id: i for i, id in enumerate(pool.document_ids)}
    rows = zip(*(table[column].tolist() for column in ("document", "start", "end")), strict=True)
    type_numbers = (types.get((number[id], start, end)) for id, start, end in rows)
    return ["" if i is None else pool.types[i] for i in type_numbers]


# ---- which sentences ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions on one place of a sentence; without any, all sentences are shown."""

    disputed_by: tuple[str, ...] = ()  # by some of these sets, but not by all
    types: tuple[str, ...] = ()
    marked_by: tuple[str, ...] = ()  # by every one of these sets
    missed_by: tuple[str, ...] = ()  # by none of these sets
    least_score: float = 0.0  # some set's score is in this range
    most_score: float = 1.0


def matching_sentences(pool: Pool, wanted: Filter) -> npt.NDArray[np.int64]:
    """Return the numbers of the sentences with a place that meets all conditions."""
    if wanted == Filter():
        return np.arange(pool.sentence_count)
    kept = np.ones(len(pool.places), dtype=bool)
    if wanted.disputed_by:
        marked = _columns(pool, wanted.disputed_by)
        kept &= marked.any(axis=1) & ~marked.all(axis=1)
    if wanted.types:
        kept &= pool.of_type(wanted.types)
    kept &= _columns(pool, wanted.marked_by).all(axis=1)
    kept &= ~_columns(pool, wanted.missed_by).any(axis=1)
    if (wanted.least_score, wanted.most_score) != (0.0, 1.0):
        with np.errstate(invalid="ignore"):
            inside = (pool.scores >= wanted.least_score) & (pool.scores <= wanted.most_score)
        kept &= inside.any(axis=1)
    return np.unique(pool.places["sentence"].to_numpy()[kept])


def _columns(pool: Pool, names: Sequence[str]) -> npt.NDArray[np.bool_]:
    return pool.is_marked[:, [pool.names.index(name) for name in names]]
