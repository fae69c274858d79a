"""Compare two sets of distant labels of one text: which matches are added, which removed."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.labels.distant import DistantLabels

_COLUMNS = ("sentence", "start", "end", "entity_type", "phrase", "dictionary")


@dataclass(frozen=True, slots=True)
class Changes:
    """Added and removed matches; a match that changes its type is one of each."""

    added: pd.DataFrame  # sentence, start, end (token indices), entity_type, phrase, dictionary
    removed: pd.DataFrame  # same columns
    unchanged: int

    @property
    def is_empty(self) -> bool:
        return self.added.empty and self.removed.empty


def label_changes(before: DistantLabels, after: DistantLabels) -> Changes:
    """Return the matches of `after` that `before` lacks, and the other way round.

    Matches are compared by place and type, not by the phrase or dictionary behind them.
    """
    if not np.array_equal(before.bounds, after.bounds):
        raise ValueError("both labels must be of the same sentences")
    old, new = _keys(before, after.types), _keys(after, before.types)
    is_new, is_gone = ~np.isin(new, old), ~np.isin(old, new)
    return Changes(_table(after, is_new), _table(before, is_gone), int((~is_new).sum()))


def change_examples(table: pd.DataFrame, most: int = 10) -> pd.DataFrame:
    """Return one match per phrase, for at most `most` phrases, those with most matches first."""
    counts = table.groupby(["phrase", "entity_type"], sort=False)["sentence"].transform("size")
    first = table.assign(matches=counts).drop_duplicates(["phrase", "entity_type"])
    order = first.sort_values("matches", ascending=False, kind="stable")
    return order.head(most).reset_index(drop=True)


def _keys(labels: DistantLabels, others: tuple[str, ...]) -> npt.NDArray[np.int64]:
    """Return one number per match that stands for its place and type in both labels."""
    number = {name: i for i, name in enumerate(sorted({*labels.types, *others}))}
    type_numbers = np.array([0, *(number[name] for name in labels.types)], dtype=np.int64)
    kept = labels.kept
    start = labels.bounds[kept["sentence"].to_numpy()] + kept["start"].to_numpy()
    length = (kept["end"] - kept["start"]).to_numpy()
    widest = int(np.diff(labels.bounds).max(initial=0)) + 1  # no match is longer than its sentence
    of_type = type_numbers[kept["type"].to_numpy()]
    keys: npt.NDArray[np.int64] = (start * widest + length) * max(len(number), 1) + of_type
    return keys


def _table(labels: DistantLabels, chosen: npt.NDArray[np.bool_]) -> pd.DataFrame:
    rows = labels.kept[chosen]
    credited = labels.phrases.take(rows["phrase"].to_numpy())
    types = np.array(("", *labels.types), dtype=object)
    values = (
        *(rows[name].to_numpy() for name in ("sentence", "start", "end")),
        types[rows["type"].to_numpy()],
        *(credited[name].to_numpy() for name in ("phrase", "dictionary")),
    )
    return pd.DataFrame(dict(zip(_COLUMNS, values, strict=True)))
