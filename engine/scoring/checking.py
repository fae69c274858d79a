"""Estimate precision from a sample of matches that a person judged, without gold."""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import pandas as pd

from engine.dictionaries import phrase_flags
from engine.labels import DistantLabels
from engine.text import Entity, Sentence

VERDICTS = ("correct", "wrong", "unsure")
_Z = 1.959964  # two-sided 95 %
# Every phrase starts with this many virtual judgements at the precision of its type, so that one
# wrong match out of one does not make it look hopeless.
_PRIOR_JUDGEMENTS = 2
_NOISY_COLUMNS = [
    "phrase", "entity_type", "dictionary", "matches", "checked", "precision", "flags",
    "estimated_false",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict of a person, or of gold, on one match."""

    document_id: str
    start: int  # code points in the document
    end: int
    entity_type: str
    verdict: str  # one of VERDICTS

    @property
    def place(self) -> tuple[str, int, int, str]:
        return (self.document_id, self.start, self.end, self.entity_type)

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"verdict must be one of {VERDICTS}, got {self.verdict!r}")


Place = tuple[str, int, int, str]  # document, start, end, type
Judgements = Mapping[Place, Judgement]


# ---- sampling -------------------------------------------------------------------------------


def kept_matches(labels: DistantLabels, sentences: Sequence[Sentence]) -> pd.DataFrame:
    """Return the kept matches with what a person needs to judge them.

    Columns: document, start, end (code points), text, entity_type, phrase, dictionary, sentence
    (index), context.
    """
    kept = labels.kept
    credited = labels.phrases.take(kept["phrase"].to_numpy())
    rows = []
    for i, first, last, type_number in zip(
        *(kept[name].tolist() for name in ("sentence", "start", "end", "type")), strict=True
    ):
        sentence = sentences[i]
        document, layout = sentence.document, sentence.document.layout
        before = layout.sentences[sentence.index]
        start, end = layout.tokens[2 * (before + first)], layout.tokens[2 * (before + last) - 1]
        surface = document.text[start:end]
        rows.append((document.id, start, end, surface, labels.types[type_number - 1], i))
    columns = ["document", "start", "end", "text", "entity_type", "sentence"]
    table = pd.DataFrame(rows, columns=columns)
    table.insert(5, "phrase", credited["phrase"].to_numpy())
    table.insert(6, "dictionary", credited["dictionary"].to_numpy())
    context = cache(lambda i: sentences[i].text)  # once for all matches of a sentence
    table["context"] = list(map(context, table["sentence"].tolist()))
    return table


def draw_sample(matches: pd.DataFrame, size: int = 50, seed: int = 0) -> pd.DataFrame:
    """Return a random sample of `kept_matches`, spread over types and dictionaries.

    Each (type, dictionary) gets its share, and at least five. A larger sample contains the
    smaller one, and a match that is still there after relabeling keeps its place in the order.
    """
    if matches.empty:
        return matches
    parts = []
    for _, stratum in mixed(matches, seed).groupby(["entity_type", "dictionary"], sort=True):
        share = math.ceil(size * len(stratum) / len(matches))
        parts.append(stratum.head(max(share, 5)))
    return pd.concat(parts)


def mixed(sample: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Return a sample in a fixed random order, types and dictionaries mixed.

    Someone who stops halfway has then judged some of each.
    """
    lots = [_lot(place, seed) for place in _places(sample)]
    return sample.iloc[sorted(range(len(lots)), key=lots.__getitem__)]


def _lot(place: tuple[str, int, int, str], seed: int) -> bytes:
    return hashlib.sha256(repr((seed, place)).encode()).digest()


# ---- estimating -----------------------------------------------------------------------------


def wilson_interval(correct: float, total: float) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a share; (0, 1) without observations.

    >>> [round(x, 3) for x in wilson_interval(42, 50)]
    [0.715, 0.917]
    """
    if total <= 0:
        return (0.0, 1.0)
    share, z2 = correct / total, _Z * _Z
    middle = (share + z2 / (2 * total)) / (1 + z2 / total)
    half = _Z / (1 + z2 / total) * math.sqrt(share * (1 - share) / total + z2 / (4 * total**2))
    # At a share of 0 or 1 the interval ends there, also after rounding.
    return (max(0.0, min(middle - half, share)), min(1.0, max(middle + half, share)))


def checked_precision(
    matches: pd.DataFrame, judgements: Judgements, by: str = "entity_type"
) -> pd.DataFrame:
    """Return precision with its interval per value of `by`, and for all matches together.

    Columns: `by`, matches, checked, correct, unsure, precision, low, high. "Unsure" counts as
    checked but not as judged. Judgements are weighted by how many matches of their (type,
    dictionary) each stands for, and the interval uses the effective sample size.
    """
    [table] = checked_precisions(matches, judgements, (by,))
    return table


def checked_precisions(
    matches: pd.DataFrame, judgements: Judgements, columns: Sequence[str]
) -> list[pd.DataFrame]:
    """Return `checked_precision` by each of the columns; the matches are looked up only once."""
    table = _judged(matches, judgements)
    return [_precision(table, by) for by in columns]


def _precision(table: pd.DataFrame, by: str) -> pd.DataFrame:
    weighted = table["judged"].where(table["judged"])
    per_stratum = table.groupby(["entity_type", "dictionary"])["judged"]
    weight = (per_stratum.transform("size") / per_stratum.transform("sum")).where(weighted.notna())
    table = table.assign(weight=weight)
    rows = [_estimate(str(name), group) for name, group in table.groupby(by, sort=True)]
    if len(rows) != 1:
        rows.append(_estimate("all", table))
    return pd.DataFrame(rows).rename(columns={"group": by})


def joined_flags(matches: pd.DataFrame) -> dict[str, str]:
    """Return the flags of each phrase that matches, in one text."""
    phrases = map(str, matches["phrase"].unique())
    return {phrase: "; ".join(phrase_flags(phrase)) for phrase in phrases}


def noisy_phrases(
    matches: pd.DataFrame, judgements: Judgements, flags: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Return the phrases by their estimated number of false matches.

    `flags` are the `joined_flags` of the matches, if they are at hand.

    Columns: phrase, entity_type, dictionary, matches, checked, precision (of the checked), flags,
    estimated_false.
    """
    keys = ["phrase", "entity_type", "dictionary"]
    table = _judged(matches, judgements)
    by_type = _precision(table, "entity_type").set_index("entity_type")["precision"]
    by_type = by_type[~by_type.index.duplicated()]  # a type may have the name of the total row
    groups = table.groupby(keys, sort=True)
    result = groups.agg(
        matches=("judged", "size"), checked=("judged", "sum"), correct=("correct", "sum")
    ).reset_index()
    checked, correct = result["checked"], result.pop("correct")
    prior = result["entity_type"].map(by_type).astype(float).fillna(1.0)
    estimate = (correct + _PRIOR_JUDGEMENTS * prior) / (checked + _PRIOR_JUDGEMENTS)
    result["precision"] = (correct / checked).where(checked > 0)
    flags = joined_flags(matches) if flags is None else flags
    result["flags"] = [flags[str(phrase)] for phrase in result["phrase"]]
    result["estimated_false"] = checked - correct + (result["matches"] - checked) * (1 - estimate)
    result["is_flagged"] = result["flags"] != ""
    result = result.sort_values(
        ["estimated_false", "is_flagged", "matches", "phrase"],
        ascending=[False, False, False, True],
        ignore_index=True,
    )
    return result[_NOISY_COLUMNS]


def judgements_from_gold(
    matches: pd.DataFrame, gold: Mapping[str, Iterable[Entity]]
) -> dict[Place, Judgement]:
    """Return the verdict of the gold on each match in its documents."""
    places = {
        (id, entity.start, entity.end, entity.entity_type)
        for id, entities in gold.items()
        for entity in entities
    }
    judgements = {}
    for place in _places(matches):
        if place[0] in gold:
            verdict = "correct" if place in places else "wrong"
            judgements[place] = Judgement(*place, verdict)
    return judgements


def _places(matches: pd.DataFrame) -> list[tuple[str, int, int, str]]:
    return list(
        zip(
            *(matches[name].tolist() for name in ("document", "start", "end", "entity_type")),
            strict=True,
        )
    )


def _judged(matches: pd.DataFrame, judgements: Judgements) -> pd.DataFrame:
    verdicts = [""] * len(matches)
    if judgements:
        verdicts = [
            judgements[place].verdict if place in judgements else "" for place in _places(matches)
        ]
    table = matches.copy()
    table["correct"] = [verdict == "correct" for verdict in verdicts]
    table["unsure"] = [verdict == "unsure" for verdict in verdicts]
    table["judged"] = [verdict in ("correct", "wrong") for verdict in verdicts]
    return table


def _estimate(name: str, group: pd.DataFrame) -> dict[str, object]:
    weights = group["weight"].dropna()
    total = float(weights.sum())
    share = float(weights[group["correct"]].sum()) / total if total else None
    # Kish's effective sample size: unequal weights are worth fewer judgements.
    worth = total**2 / float((weights**2).sum()) if total else 0.0
    low, high = wilson_interval((share or 0.0) * worth, worth)
    return {
        "group": name,
        "matches": len(group),
        "checked": int(group["judged"].sum() + group["unsure"].sum()),
        "correct": int(group["correct"].sum()),
        "unsure": int(group["unsure"].sum()),
        "precision": share,
        "low": low,
        "high": high,
    }
