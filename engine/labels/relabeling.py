"""Update distant labels after some phrases were muted, without matching again.

Only sentences with a muted phrase are resolved again, from the phrases that are left in them; the
others keep their matches. The result is the same as labeling everything again.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.dictionaries import Dictionary, Phrase, active_phrases, never_lists
from engine.labels.adaptation import Adaptation, decide_case
from engine.labels.distant import (
    ALSO_COLUMNS,
    MATCH_COLUMNS,
    SHORTER_COLUMNS,
    DistantLabels,
    paint,
)
from engine.labels.resolution import Choice, Rules

_Flags = npt.NDArray[np.bool_]
_Numbers = npt.NDArray[np.int32]


def labels_after_muting(
    labels: DistantLabels, before: Sequence[Dictionary], after: Sequence[Dictionary]
) -> DistantLabels | None:
    """Return the labels of `after`, given those of `before` under the same matching options.

    None if the dictionaries differ by more than muted phrases, if a pattern took too long, or if
    the text might now decide otherwise about letter case or abbreviations: then everything must be
    matched.
    """
    if labels.notes or not _differ_by_muting(before, after):
        return None
    is_gone = _muted_phrases(labels, before, after)
    rules = _rules(after)
    number = np.cumsum(~is_gone, dtype=np.int32) - 1  # old phrase id -> new one
    old = Choice(*(table.to_numpy() for table in (labels.matches, labels.also, labels.shorter)))
    rows = _occurrences(*old)
    is_touched = np.zeros(len(labels.bounds) - 1, bool)
    is_touched[rows[is_gone[rows[:, 3]], 0]] = True
    phrases = labels.phrases[~is_gone].reset_index(drop=True)
    adaptation = labels.adaptation
    if adaptation is not None:
        muted = frozenset().union(*(dictionary.muted for dictionary in after))
        adaptation = _adapted(adaptation, phrases, is_gone, is_touched, muted)
        if adaptation is None:
            return None
    left = rows[is_touched[rows[:, 0]] & ~is_gone[rows[:, 3]]]
    left[:, 3] = number[left[:, 3]]
    new = rules.choose(left)
    # If a type has no phrase left, no untouched sentence has a match of it.
    types = np.array([0, *(_place(name, rules.types) for name in labels.types)], np.int32)
    tables = _merged(old, is_touched, number, types, new)
    matches, also, shorter = (
        pd.DataFrame(table, columns=list(columns))
        for table, columns in zip(
            tables, (MATCH_COLUMNS, ALSO_COLUMNS, SHORTER_COLUMNS), strict=True
        )
    )
    return replace(
        labels,
        types=rules.types,
        labels=paint(matches, labels.bounds),
        matches=matches,
        also=also,
        phrases=phrases,
        shorter=shorter,
        adaptation=adaptation,
    )


def _adapted(
    before: Adaptation,
    phrases: pd.DataFrame,
    is_gone: _Flags,
    is_touched: _Flags,
    muted: Collection[tuple[str, str]],
) -> Adaptation | None:
    """Return what the text decides about the phrases that are left; None if matches may change.

    An abbreviation depends on the matches of the sentence that defines it.
    """
    exact, other = before.exact[~is_gone], before.other[~is_gone]
    after = replace(before, exact=exact, other=other, cases=decide_case(phrases, exact, other))
    left = {case.entity_type for case in after.cases}
    is_same = (
        before.folding & left == after.folding
        and not is_touched[before.defined_in].any()
        and not any(
            (a.short, a.entity_type) in muted for a in before.abbreviations if not a.is_muted
        )
    )
    return after if is_same else None


def _place(name: str, types: Sequence[str]) -> int:
    return types.index(name) + 1 if name in types else 0


# ---- what was muted -------------------------------------------------------------------------


def _differ_by_muting(before: Sequence[Dictionary], after: Sequence[Dictionary]) -> bool:
    names = [dictionary.name for dictionary in before]
    return (
        len(before) == len(after)
        # Phrases are looked up, and ties between dictionaries are broken, by the dictionary's name.
        and len(set(names)) == len(names)
        and never_lists(before) == never_lists(after)
        and all(
            old.muted <= new.muted and replace(old, muted=new.muted, notes=new.notes) == new
            for old, new in zip(before, after, strict=True)
        )
    )


def _muted_phrases(
    labels: DistantLabels, before: Sequence[Dictionary], after: Sequence[Dictionary]
) -> _Flags:
    """Return which phrases of the labels are muted now."""
    muted = {
        (new.name, text, entity_type)
        for old, new in zip(before, after, strict=True)
        for text, entity_type in new.muted - old.muted
    }
    is_gone = np.zeros(len(labels.phrases), bool)
    maybe = np.flatnonzero(labels.phrases["phrase"].isin({text for _, text, _ in muted}))
    rows = labels.phrases[["dictionary", "phrase", "entity_type"]].take(maybe)
    is_gone[maybe] = [row in muted for row in rows.itertuples(index=False, name=None)]
    return is_gone


def _rules(dictionaries: Sequence[Dictionary]) -> Rules:
    phrases: list[Phrase] = []
    dictionary_of: list[int] = []
    for number, dictionary in enumerate(dictionaries):
        phrases += active_phrases(dictionary)
        dictionary_of += [number] * (len(phrases) - len(dictionary_of))
    return Rules(phrases, dictionary_of, dictionaries)


# ---- occurrences ----------------------------------------------------------------------------


def _occurrences(matches: _Numbers, also: _Numbers, shorter: _Numbers) -> _Numbers:
    """Return one row per occurrence of a phrase: sentence, start, end, phrase."""
    places = matches[:, :3]
    return np.concatenate(
        [
            np.column_stack([places, matches[:, 4]]),
            np.column_stack([places[also[:, 0]], also[:, 1]]),
            shorter,
        ]
    )


# ---- both together --------------------------------------------------------------------------


def _merged(
    old: Choice,
    is_touched: _Flags,
    number: _Numbers,
    types: _Numbers,
    new: Choice,
) -> Choice:
    """Return the renumbered rows of untouched sentences and the new rows, in text order."""
    matches, also, shorter = old
    stay = np.flatnonzero(~is_touched[matches[:, 0]])
    kept, settled = matches[stay], new.matches
    order = np.argsort(np.concatenate([kept[:, 0], settled[:, 0]]), kind="stable")
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    # The new place of each row; the last entry is for -1, which stands for no row.
    old_place = np.full(len(matches) + 1, -1, np.int32)
    old_place[stay] = place[: len(stay)]
    new_place = np.append(place[len(stay) :], np.int32(-1))
    kept[:, 3], kept[:, 4], kept[:, 6] = (
        types[kept[:, 3]],
        number[kept[:, 4]],
        old_place[kept[:, 6]],
    )
    settled = np.column_stack([settled[:, :6], new_place[settled[:, 6]]])
    further = also[old_place[also[:, 0]] >= 0]
    further = np.column_stack([old_place[further[:, 0]], number[further[:, 1]]])
    new_also = np.column_stack([new_place[new.also[:, 0]], new.also[:, 1]])
    short = shorter[~is_touched[shorter[:, 0]]]
    short[:, 3] = number[short[:, 3]]
    return Choice(
        np.concatenate([kept, settled])[order],
        _in_order(further, new_also),
        _in_order(short, new.shorter),
    )


def _in_order(old: _Numbers, new: _Numbers) -> _Numbers:
    rows = np.concatenate([old, new])
    return rows[np.argsort(rows[:, 0], kind="stable")]
