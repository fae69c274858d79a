"""Compute scores with confidence intervals by resampling the text (bootstrap).

A score on one text is one draw: another text of the same kind would give another. We draw documents
(or sentences) with replacement a thousand times; the middle 95 % of the scores is the interval.
All sets are scored on the same draws, so differences can be judged too.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.scoring.pool import Pool, within

ALL_TYPES = "All types"
MACRO = "Mean of types"
SHARES = ("precision", "recall", "f1")
_LEVEL = 0.95
_AT_ONCE = 4_000_000  # weights in memory at a time
_FEWEST_DOCUMENTS = 30  # with fewer, sentences are drawn: a few large units say little

Counts = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scored:
    """Counts over the scored documents, and over resamples of them.

    The last axes are (sets, types + 1, 3): correct, predicted and gold entities, all types last.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    documents: int
    unit: str  # what was drawn: "document" or "sentence"
    units: int
    counts: Counts  # (sets, types + 1, 3)
    resampled: Counts  # (resamples, sets, types + 1, 3)


def score_pool(
    pool: Pool,
    gold: str,
    annotated: Collection[str],
    *,
    sentences_by_document: npt.NDArray[np.int64],
    resamples: int = 1_000,
    seed: int = 0,
) -> Scored:
    """Return every other set's counts against the set `gold`, in the annotated documents only.

    `sentences_by_document` is (documents + 1,): the sentences of document i are those from entry i
    to entry i + 1. Documents are drawn if there are enough of them, otherwise sentences.
    """
    is_annotated = np.array([id in annotated for id in pool.document_ids], dtype=bool)
    inside = within(pool, annotated)
    documents = int(is_annotated.sum())
    if documents >= _FEWEST_DOCUMENTS:
        unit, chosen = "document", is_annotated
    else:
        lengths = np.diff(sentences_by_document)
        unit, chosen = "sentence", np.repeat(is_annotated, lengths)
    number = np.cumsum(chosen) - 1  # of a document or sentence among the chosen ones
    units = int(chosen.sum())
    by_unit = count_by_unit(inside, gold, number[inside.places[unit].to_numpy()], units)
    names = tuple(name for name in pool.names if name != gold)
    return Scored(
        names,
        pool.types,
        documents,
        unit,
        units,
        by_unit.sum(axis=0),
        resample(by_unit, resamples=resamples, seed=seed),
    )


def count_by_unit(
    pool: Pool, gold: str, unit_of: npt.NDArray[np.int64], units: int
) -> npt.NDArray[np.float64]:
    """Return (units, sets but gold, types + 1, 3): correct, predicted and gold entities.

    `unit_of` is the unit of each place.
    """
    others = [i for i, name in enumerate(pool.names) if name != gold]
    in_gold, number = pool.column(gold), pool.places["type"].to_numpy()
    shape = (units, len(others), len(pool.types) + 1, 3)
    counts = np.zeros(shape)
    for k, i in enumerate(others):
        in_set = pool.is_marked[:, i]
        for kind, marked in enumerate((in_set & in_gold, in_set, in_gold)):
            flat = unit_of[marked] * len(pool.types) + number[marked]
            by_type = np.bincount(flat, minlength=units * len(pool.types))
            counts[:, k, :-1, kind] = by_type.reshape(units, len(pool.types))
    counts[:, :, -1] = counts[:, :, :-1].sum(axis=2)
    return counts


def resample(counts: Counts, *, resamples: int = 1_000, seed: int = 0) -> Counts:
    """Return (resamples, …): the sums of `counts` (units, …) over units drawn with replacement."""
    units, shape = len(counts), (resamples, *counts.shape[1:])
    if not units:
        return np.zeros(shape)
    flat = counts.reshape(units, -1).astype(np.float32)  # sums stay far below 2 ** 24
    sums = np.zeros((resamples, flat.shape[1]))
    random = np.random.default_rng(seed)
    step = max(1, _AT_ONCE // units)
    for first in range(0, resamples, step):
        rows = min(step, resamples - first)
        drawn = random.integers(0, units, size=(rows, units), dtype=np.int64)
        drawn += units * np.arange(rows)[:, None]
        weights = np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units)
        sums[first : first + rows] = weights.astype(np.float32) @ flat
    return sums.reshape(shape)


def shares(counts: Counts) -> Counts:
    """Return (…, 3) precision, recall and F1 of (…, 3) counts; NaN without anything to count."""
    correct, predicted, gold = np.moveaxis(counts, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = (correct / predicted, correct / gold, 2 * correct / (predicted + gold))
    return np.stack(parts, axis=-1)


def interval(samples: Counts) -> tuple[Counts, Counts]:
    """Return the ends of the middle 95 % along the first axis; NaN where no sample has a value."""
    tail = (1 - _LEVEL) / 2
    known = ~np.isnan(samples).all(axis=0)
    ends = np.full((2, *samples.shape[1:]), np.nan)
    ends[:, known] = np.nanquantile(samples[:, known], [tail, 1 - tail], axis=0)
    return ends[0], ends[1]


def score_table(scored: Scored) -> pd.DataFrame:
    """Return one row per set and type, for all types together, and for the mean of types.

    Columns: name, entity_type, precision, recall, f1, each with _low and _high, correct,
    predicted, gold. The mean is over the types in the gold.
    """
    points, samples = shares(scored.counts), shares(scored.resampled)
    low, high = interval(samples)
    rows = []
    for k, name in enumerate(scored.names):
        for j, entity_type in enumerate((*scored.types, ALL_TYPES)):
            correct, predicted, gold = scored.counts[k, j].astype(int).tolist()
            counted = {"correct": correct, "predicted": predicted, "gold": gold}
            ends = _named(points[k, j], low[k, j], high[k, j])
            rows.append({"name": name, "entity_type": entity_type, **ends, **counted})
        rows.append({"name": name, "entity_type": MACRO, **_mean_of_types(scored, k)})
    return pd.DataFrame(rows)


def difference(scored: Scored, before: str, after: str) -> pd.DataFrame:
    """Return how much higher `after` scores than `before`, all types together.

    Columns: share, before, after, difference, low, high, better (share of resamples in which
    `after` is higher). Both are scored on the same draws.
    """
    a, b = scored.names.index(before), scored.names.index(after)
    points, samples = shares(scored.counts[:, -1]), shares(scored.resampled[:, :, -1])
    gaps = samples[:, b] - samples[:, a]  # (resamples, 3)
    low, high = interval(gaps)
    return pd.DataFrame(
        {
            "share": SHARES,
            "before": points[a],
            "after": points[b],
            "difference": points[b] - points[a],
            "low": low,
            "high": high,
            "better": [
                float((gap > 0).mean()) if not np.isnan(gap).all() else np.nan for gap in gaps.T
            ],
        }
    )


def _mean_of_types(scored: Scored, k: int) -> dict[str, object]:
    has_gold = scored.counts[k, :-1, 2] > 0
    nothing = dict.fromkeys(("correct", "predicted", "gold"), 0)
    if not has_gold.any():
        empty = np.full(3, np.nan)
        return _named(empty, empty, empty) | nothing
    # A type without predictions has no precision; in the mean it counts as 0.
    of_types = np.nan_to_num(shares(scored.counts[k, :-1][has_gold]))
    samples = np.nan_to_num(shares(scored.resampled[:, k, :-1][:, has_gold]))
    low, high = interval(samples.mean(axis=1))
    return _named(of_types.mean(axis=0), low, high) | nothing


def _named(point: Counts, low: Counts, high: Counts) -> dict[str, object]:
    row: dict[str, object] = {}
    for i, share in enumerate(SHARES):
        row |= {share: float(point[i]), f"{share}_low": float(low[i])}
        row[f"{share}_high"] = float(high[i])
    return row
