"""Measure how much of the text the dictionaries label.

Coverage is not recall: it says how much was labeled, not how much should have been.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine.labels.distant import DistantLabels, credits
from engine.labels.resolution import SAME_TYPE


@dataclass(frozen=True, slots=True)
class Coverage:
    """The headline figures."""

    tokens: int
    labeled_tokens: int
    sentences: int
    matched_sentences: int
    phrases: int
    used_phrases: int
    matches: int
    conflicts: int  # matches lost to another type

    @property
    def token_share(self) -> float:
        return self.labeled_tokens / self.tokens if self.tokens else 0.0

    @property
    def sentence_share(self) -> float:
        return self.matched_sentences / self.sentences if self.sentences else 0.0

    @property
    def phrase_share(self) -> float:
        return self.used_phrases / self.phrases if self.phrases else 0.0


def measure_coverage(labels: DistantLabels) -> Coverage:
    """Return the headline figures of the labels."""
    kept = labels.kept
    return Coverage(
        tokens=len(labels.labels),
        labeled_tokens=int(np.count_nonzero(labels.labels)),
        sentences=len(labels.bounds) - 1,
        matched_sentences=int(kept["sentence"].nunique()),
        phrases=len(labels.phrases),
        used_phrases=int(credits(labels)["phrase"].nunique()),
        matches=len(kept),
        conflicts=int((labels.matches["outcome"] > SAME_TYPE).sum()),
    )


def coverage_by_type(labels: DistantLabels) -> pd.DataFrame:
    """Return one row per type: phrases, phrases used, matches, tokens labeled, sentences."""
    return _coverage_by(labels, "entity_type", list(labels.types))


def coverage_by_dictionary(labels: DistantLabels) -> pd.DataFrame:
    """Return one row per dictionary; a match that several dictionaries explain counts for each.

    `only_here` counts the matches that no other dictionary explains.
    """
    return _coverage_by(labels, "dictionary", list(dict.fromkeys(labels.dictionaries)))


def coverage_along(labels: DistantLabels, bins: int = 20) -> pd.DataFrame:
    """Return coverage in equal stretches of the corpus, to show parts with few labels."""
    count = len(labels.bounds) - 1
    edges = np.unique(np.linspace(0, count, bins + 1).astype(int))
    matched = np.zeros(count, dtype=bool)
    matched[labels.kept["sentence"].to_numpy()] = True
    rows = []
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        stretch = labels.labels[labels.bounds[first] : labels.bounds[last]]
        rows.append(
            {
                "first_sentence": first,
                "last_sentence": last - 1,
                "tokens": len(stretch),
                "token_share": np.count_nonzero(stretch) / max(len(stretch), 1),
                "sentence_share": matched[first:last].mean(),
            }
        )
    columns = ["first_sentence", "last_sentence", "tokens", "token_share", "sentence_share"]
    return pd.DataFrame(rows, columns=columns)


def matches_per_sentence(labels: DistantLabels, most: int = 6) -> pd.DataFrame:
    """Return how many sentences have 0, 1, 2, … matches; the last row is `most` or more."""
    counts = _count(labels.kept["sentence"], len(labels.bounds) - 1).clip(max=most)
    sentences = np.bincount(counts.astype(np.intp), minlength=most + 1)
    return pd.DataFrame({"matches": np.arange(most + 1), "sentences": sentences})


def phrase_usage(labels: DistantLabels) -> pd.DataFrame:
    """Return every phrase with its number of matches and of lost matches, most used first."""
    table = labels.phrases.copy()
    table["matches"] = _count(credits(labels)["phrase"], len(table))
    lost = labels.matches[labels.matches["outcome"] > SAME_TYPE]
    table["lost"] = _count(lost["phrase"], len(table))
    return table.sort_values(
        ["matches", "lost", "phrase"], ascending=[False, False, True], ignore_index=True
    )


def _coverage_by(labels: DistantLabels, column: str, groups: list[str]) -> pd.DataFrame:
    credited = credits(labels)
    credited["group"] = labels.phrases[column].to_numpy()[credited["phrase"].to_numpy()]
    matches = labels.matches.loc[credited["match"]]
    credited["sentence"] = matches["sentence"].to_numpy()
    credited["tokens"] = (matches["end"] - matches["start"]).to_numpy()
    once = credited.drop_duplicates(["match", "group"])
    explained = once.groupby("match")["group"].transform("size")
    by_group = once.groupby("group")
    table = pd.DataFrame(
        {
            "phrases": labels.phrases.groupby(column).size(),
            "phrases_used": credited.groupby("group")["phrase"].nunique(),
            "matches": by_group.size(),
            "only_here": once[explained == 1].groupby("group").size(),
            "tokens": by_group["tokens"].sum(),
            "sentences": by_group["sentence"].nunique(),
        },
        index=pd.Index(groups, name=column),
    )
    table = table.fillna(0).astype(int)
    table["token_share"] = table["tokens"] / max(len(labels.labels), 1)
    return table.reset_index()


def _count(ids: pd.Series, size: int) -> np.ndarray:
    return np.bincount(ids.to_numpy(), minlength=size)
