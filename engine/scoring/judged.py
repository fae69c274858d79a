"""Estimate the precision of entity sets from the entities that people judged."""

import numpy as np
import pandas as pd

from engine.scoring.checking import Judgements, wilson_interval
from engine.scoring.pool import Pool

_COLUMNS = ["name", "judged", "correct", "precision", "low", "high"]


def judged_precision(pool: Pool, judgements: Judgements) -> pd.DataFrame:
    """Return, one row per set, how many of its entities were judged, and how many are right.

    Columns: name, judged, correct, precision (NaN without judgements), low, high (Wilson's 95 %).
    This estimates the precision of all entities only if the judged ones were drawn at random:
    people judge doubtful ones first. "Unsure" does not count as judged.
    """
    verdicts = _verdicts(pool, judgements)
    rows = []
    for name in pool.names:
        own = verdicts[pool.column(name)]
        judged, correct = int((own >= 0).sum()), int((own == 1).sum())
        low, high = wilson_interval(correct, judged)
        rows.append((name, judged, correct, correct / judged if judged else np.nan, low, high))
    return pd.DataFrame(rows, columns=_COLUMNS)


def _verdicts(pool: Pool, judgements: Judgements) -> np.ndarray:
    """Return 1 (right), 0 (wrong) or -1 (not judged) per place."""
    verdicts = np.full(len(pool.places), -1)
    number = {id: i for i, id in enumerate(pool.document_ids)}
    touched = {number[place[0]] for place in judgements if place[0] in number}
    rows = np.flatnonzero(np.isin(pool.places["document"].to_numpy(), sorted(touched)))
    columns = (
        pool.places[name].to_numpy()[rows].tolist() for name in ("document", "start", "end", "type")
    )
    for row, document, start, end, type_number in zip(rows.tolist(), *columns, strict=True):
        place = (pool.document_ids[document], start, end, pool.types[type_number])
        judgement = judgements.get(place)
        if judgement is not None and judgement.verdict in ("correct", "wrong"):
            verdicts[row] = judgement.verdict == "correct"
    return verdicts
