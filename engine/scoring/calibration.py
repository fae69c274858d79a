"""Show how the scores of predicted entities are distributed and, with gold, how reliable they are.

A tagger is calibrated if 80 % of the entities with a score around 0.8 are right.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.scoring.checking import wilson_interval
from engine.scoring.pool import Pool


def scored_names(pool: Pool) -> list[str]:
    """Return the names of the sets with scores; gold and dictionary matches have none."""
    has_scores = (~np.isnan(pool.scores)).sum(axis=0).tolist()
    return [name for name, has in zip(pool.names, has_scores, strict=True) if has]


def score_histogram(pool: Pool, gold: str | None = None, *, bins: int = 20) -> pd.DataFrame:
    """Return how many entities of each set have a score in each of `bins` equal bins from 0 to 1.

    Columns: name, low, high, entities, correct (NaN without gold). The last bin includes 1.
    """
    edges = np.linspace(0, 1, bins + 1)
    rows = []
    for name, scores, right in _scored(pool, gold):
        counts, correct = _count(scores, right, bins)
        for low, high, n, k in zip(edges[:-1], edges[1:], counts, correct, strict=True):
            rows.append((name, low, high, int(n), float(k) if gold else np.nan))
    return pd.DataFrame(rows, columns=["name", "low", "high", "entities", "correct"])


def reliability(pool: Pool, gold: str, *, bins: int = 10) -> pd.DataFrame:
    """Return, for each set and non-empty bin of scores, how many entities are right.

    Columns: name, low, high, entities, correct, mean_score, precision, precision_low,
    precision_high (Wilson's 95 %).
    """
    edges = np.linspace(0, 1, bins + 1)
    rows = []
    for name, scores, right in _scored(pool, gold):
        counts, correct = _count(scores, right, bins)
        sums = np.bincount(_bin_of(scores, bins), weights=scores, minlength=bins)
        for i in np.flatnonzero(counts).tolist():
            n, k = int(counts[i]), int(correct[i])
            ends = wilson_interval(k, n)
            rows.append((name, edges[i], edges[i + 1], n, k, sums[i] / n, k / n, *ends))
    columns = ["name", "low", "high", "entities", "correct", "mean_score", "precision"]
    return pd.DataFrame(rows, columns=[*columns, "precision_low", "precision_high"])


def calibration_error(table: pd.DataFrame) -> dict[str, float]:
    """Return the expected calibration error (ECE) of each set of a reliability table.

    That is the mean of |mean score - precision| over the bins, weighted by entities.
    """
    gaps = (table["mean_score"] - table["precision"]).abs() * table["entities"]
    errors = gaps.groupby(table["name"], sort=False).sum()
    errors /= table.groupby("name", sort=False)["entities"].sum()
    return {str(name): float(error) for name, error in errors.items()}


def _scored(
    pool: Pool, gold: str | None
) -> list[tuple[str, npt.NDArray[np.float64], npt.NDArray[np.bool_]]]:
    """Return, per set with scores: its name, the scores, and which entities are in the gold."""
    in_gold = pool.column(gold) if gold else np.zeros(len(pool.places), dtype=bool)
    parts = []
    for name in scored_names(pool):
        scores = pool.scores[:, pool.names.index(name)]
        known = ~np.isnan(scores)
        parts.append((name, scores[known], in_gold[known]))
    return parts


def _bin_of(scores: npt.NDArray[np.float64], bins: int) -> npt.NDArray[np.int64]:
    return np.clip((scores * bins).astype(np.int64), 0, bins - 1)


def _count(
    scores: npt.NDArray[np.float64], right: npt.NDArray[np.bool_], bins: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    places = _bin_of(scores, bins)
    return np.bincount(places, minlength=bins), np.bincount(places[right], minlength=bins)
