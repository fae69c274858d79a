"""Make tables of dictionaries and phrases, with how often each matches."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from engine.dictionaries import NEVER, Dictionary, audit_dictionaries, phrase_flags
from engine.labels.coverage import coverage_by_dictionary, phrase_usage
from engine.labels.distant import DistantLabels

_KEY = ["phrase", "entity_type", "dictionary"]
_MOST_POINTS = 300
_LONGEST_LENGTH = 8  # tokens; longer phrases are few and share one row


def phrase_table(dictionaries: Sequence[Dictionary], labels: DistantLabels | None) -> pd.DataFrame:
    """Return every phrase, muted and disabled ones too, most matches first.

    Columns: phrase, entity_type, dictionary, matches (missing without labels), flags ("a; b"),
    is_muted. A phrase that cannot match has 0 matches.
    """
    rows = [
        (p.text, p.entity_type, d.name, (p.text, p.entity_type) in d.muted)
        for d in dictionaries
        for p in d.phrases
    ]
    table = pd.DataFrame(rows, columns=[*_KEY, "is_muted"])
    index = pd.MultiIndex.from_frame(table[_KEY])
    suspicious = audit_dictionaries(dictionaries).suspicious.drop_duplicates(_KEY)
    table["flags"] = suspicious.set_index(_KEY)["flags"].reindex(index, fill_value="").to_numpy()
    # The audit leaves muted phrases out, but the reason for muting is still worth showing.
    table.loc[table["is_muted"], "flags"] = [
        "; ".join(phrase_flags(text)) for text in table.loc[table["is_muted"], "phrase"]
    ]
    if labels is None:
        table["matches"] = pd.array([pd.NA] * len(table), dtype="Int64")
        return table[[*_KEY, "matches", "flags", "is_muted"]]
    usage = phrase_usage(labels)
    if labels.never is not None:
        usage = pd.concat([usage, phrase_usage(labels.never).assign(entity_type=NEVER)])
    used = usage.drop_duplicates(_KEY).set_index(_KEY)["matches"]
    table["matches"] = used.reindex(index, fill_value=0).to_numpy()
    order = table.sort_values(["matches", "phrase"], ascending=[False, True], kind="stable")
    return order.reset_index(drop=True)[[*_KEY, "matches", "flags", "is_muted"]]


def dictionary_table(
    dictionaries: Sequence[Dictionary], labels: DistantLabels | None
) -> pd.DataFrame:
    """Return one row per dictionary: its content and how much of it matches.

    Columns: name, types ("a; b"), phrases, duplicates, muted, is_enabled, priority, used (phrases
    with a match), used_share, matches; the last three are missing without labels. `duplicates`
    are phrases listed more than once under one type, here or in another dictionary, in any case.
    """
    listed = Counter((p.text.casefold(), p.entity_type) for d in dictionaries for p in d.phrases)
    rows = [
        {
            "name": d.name,
            "types": "; ".join(d.types),
            "phrases": len(d.phrases),
            "duplicates": sum(listed[p.text.casefold(), p.entity_type] > 1 for p in d.phrases),
            "muted": len(d.muted),
            "is_enabled": d.is_enabled,
            "priority": d.priority,
        }
        for d in dictionaries
    ]
    names = ["name", "types", "phrases", "duplicates", "muted", "is_enabled", "priority"]
    table = pd.DataFrame(rows, columns=names)
    if labels is None:
        nothing = pd.array([pd.NA] * len(table), dtype="Int64")
        return table.assign(used=nothing, used_share=np.nan, matches=nothing)
    counts = pd.DataFrame(0, index=table["name"], columns=["phrases_used", "matches"])
    for part in (labels, labels.never):  # entities, and what is never one
        if part is not None:
            covered = coverage_by_dictionary(part).set_index("dictionary").reindex(table["name"])
            counts += covered[list(counts)].fillna(0).astype(int)
    table["used"] = counts["phrases_used"].to_numpy()
    table["used_share"] = table["used"] / table["phrases"].clip(lower=1)
    table["matches"] = counts["matches"].to_numpy()
    return table


def rank_table(phrases: pd.DataFrame) -> pd.DataFrame:
    """Return the long tail: rank (1 = most matches), phrase, entity_type, matches.

    All of the first ranks, then fewer and fewer: at most 300 rows.
    """
    used = phrases.loc[phrases["matches"] > 0, ["phrase", "entity_type", "matches"]]
    used = used.sort_values("matches", ascending=False, kind="stable").reset_index(drop=True)
    used.insert(0, "rank", np.arange(1, len(used) + 1))
    if len(used) <= _MOST_POINTS:
        return used
    places = np.unique(np.geomspace(1, len(used), _MOST_POINTS).astype(int))
    return used.iloc[places - 1].reset_index(drop=True)


def length_table(phrases: pd.DataFrame) -> pd.DataFrame:
    """Return one row per length of a phrase in words: words, phrases, used, matches.

    Words are separated by white space; the last row is for phrases of eight or more words.
    """
    words = phrases["phrase"].str.count(" ").add(1).clip(upper=_LONGEST_LENGTH)
    matches = phrases["matches"].fillna(0).astype(int)
    counted = pd.DataFrame({"words": words, "used": matches > 0, "matches": matches})
    by_length = counted.groupby("words")
    table = by_length.agg(used=("used", "sum"), matches=("matches", "sum"))
    table.insert(0, "phrases", by_length.size())
    return table.reset_index()
