"""Suggest phrases for the dictionaries: frequent names in the text that nothing matches.

Those that look like matches come first: in their contexts, their capitals, their letters and how
rare they are in general English (`name_likeness`).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.dictionaries import is_common_word, is_stop_word
from engine.labels.distant import DistantLabels
from engine.labels.name_likeness import Likeness, learn_likeness
from engine.labels.token_columns import TokenColumns, token_columns
from engine.text import Sentence
from engine.text import words as split_words

_LONGEST = 4  # tokens
_MOSTLY = 0.5  # of its places; a candidate that touches a hyphen as often is part of a longer name
_COLUMNS = ["phrase", "entity_type", "count", "documents", "capitalized", "example"]

_Rows = npt.NDArray[np.intp]
_Flags = npt.NDArray[np.bool_]


def missing_candidates(
    labels: DistantLabels, sentences: Sequence[Sentence], *, least: int = 3, most: int = 200
) -> pd.DataFrame:
    """Return frequent n-grams of unlabeled tokens that look like names: "maybe missing".

    Each has a word that is not everyday English. Those that look most like matches come first, each
    with the type that it looks like. With too few matches to learn from, the type is empty, and
    bunched names and capitals come first. Columns: phrase, entity_type, count, documents,
    capitalized (share), example.
    """
    text = token_columns(labels, sentences)
    likeness = _likeness(text, len(labels.types))
    candidates = {
        candidate.words: candidate
        for group in _frequent_groups(text, least)
        for candidate in _candidates(text, likeness, *group)
    }
    # In alphabetical order, so that ties are always in the same order.
    counts = {words: candidates[words].times for words in sorted(candidates)}
    whole = [candidates[words] for words in _without_parts(counts)]
    types = ("", *labels.types)
    table = pd.DataFrame([_row(text, candidate, types) for candidate in whole], columns=_COLUMNS)
    # Technical names cluster in a few documents and have capitals; filler is spread over all.
    bunched = table["count"] / table["documents"] - 0.9 + table["capitalized"]
    weight = table["count"] * bunched
    if likeness is not None:
        weight = pd.Series([candidate.likeness for candidate in whole], dtype=float)
    order = (-weight).argsort(kind="stable")
    return table.iloc[order].head(most).reset_index(drop=True)


def likeness_of_names(
    labels: DistantLabels, sentences: Sequence[Sentence], names: Iterable[str]
) -> dict[str, float]:
    """Return how much each name looks like a match where the text has it unlabeled.

    Names of everyday words are left out, and those that the text lacks; all of them, if there are
    too few matches to learn from.
    """
    text = token_columns(labels, sentences)
    likeness = _likeness(text, len(labels.types))
    if likeness is None:
        return {}
    numbers = {word: number for number, word in enumerate(text.words)}
    wanted: dict[int, dict[tuple[int, ...], list[str]]] = {}
    for name in dict.fromkeys(names):
        tokens = tuple(token.lower() for token in split_words(name))
        if tokens and looks_like_a_name(tokens) and all(token in numbers for token in tokens):
            key = tuple(numbers[token] for token in tokens)
            wanted.setdefault(len(tokens), {}).setdefault(key, []).append(name)
    found: dict[str, float] = {}
    for length, keys in wanted.items():
        places = _places(text, length, keys)
        if not places:
            continue
        starts = np.concatenate([np.array(own, np.intp) for own in places.values()])
        group = np.repeat(np.arange(len(places)), [len(own) for own in places.values()])
        scores = _scores(text, likeness, length, starts, group)
        for key, (score, _) in zip(places, scores, strict=True):
            found.update(dict.fromkeys(keys[key], score))
    return found


class _Candidate(NamedTuple):
    words: tuple[str, ...]  # lower case
    times: int
    documents: int
    capitals: int  # how often it has a capital inside a sentence
    first: int  # token of the first occurrence
    shown: int  # token of the occurrence that is shown
    likeness: float  # to matches; the higher, the likelier a name
    type_number: int  # the type that it looks like; 0 if that is not known


# ---- counting -------------------------------------------------------------------------------


def _likeness(text: TokenColumns, types: int) -> Likeness | None:
    return learn_likeness(
        text.label,
        types,
        sentence=text.sentence,
        word=text.word,
        words=text.words,
        is_free=text.is_word,
        is_capital=text.is_capital,
        is_upper=text.is_upper,
    )


def _places(
    text: TokenColumns, length: int, keys: Collection[tuple[int, ...]]
) -> dict[tuple[int, ...], list[int]]:
    """Return the first tokens of the unlabeled places of these groups of words, in text order."""
    firsts = np.array(sorted({key[0] for key in keys}))
    starts = np.flatnonzero(text.is_word & np.isin(text.word, firsts))
    starts = starts[starts + length <= len(text.word)]
    inside = starts[:, None] + np.arange(length)
    is_whole = text.is_joint[inside].all(axis=1)
    is_whole &= text.sentence[inside[:, -1]] == text.sentence[starts]
    starts = starts[is_whole]
    places: dict[tuple[int, ...], list[int]] = {}
    groups = text.word[starts[:, None] + np.arange(length)].tolist()
    for start, key in zip(starts.tolist(), map(tuple, groups), strict=True):
        if key in keys:
            places.setdefault(key, []).append(start)
    return places


def _frequent_groups(text: TokenColumns, least: int) -> Iterator[tuple[int, _Rows, _Rows]]:
    """Yield, for each length: the length, the first tokens of frequent groups, and which group.

    A group is neighboring words; punctuation other than a hyphen separates groups. A group of n
    tokens is frequent only if its first n - 1 are, so fewer are left with every length.
    """
    starts = np.flatnonzero(text.is_word)
    codes = text.word[starts]
    for length in range(1, _LONGEST + 1):
        if length > 1:
            inside = starts + length - 1 < len(text.word)
            starts, codes = starts[inside], codes[inside]
            last = starts + length - 1
            goes_on = text.is_joint[last] & (text.sentence[last] == text.sentence[starts])
            starts, last = starts[goes_on], last[goes_on]
            codes = codes[goes_on] * len(text.words) + text.word[last]
        _, codes, counts = np.unique(codes, return_inverse=True, return_counts=True)
        is_frequent = counts[codes] >= least
        starts, codes = starts[is_frequent], codes[is_frequent]
        is_whole = text.is_word[starts + length - 1]  # not cut after a hyphen
        yield length, starts[is_whole], codes[is_whole]


def _candidates(
    text: TokenColumns, likeness: Likeness | None, length: int, starts: _Rows, codes: _Rows
) -> Iterator[_Candidate]:
    """Yield the groups that look like names."""
    if not len(starts):
        return
    order = np.argsort(codes, kind="stable")  # stable: occurrences of a group stay in text order
    starts, codes = starts[order], codes[order]
    edges = np.flatnonzero(np.diff(codes, prepend=codes[0] - 1))
    group = np.repeat(np.arange(len(edges)), np.diff(edges, append=len(codes)))
    document = text.document[text.sentence[starts]]
    pairs = np.unique(group * (int(document.max()) + 1) + document) // (int(document.max()) + 1)
    is_inside = text.place[starts] > 0  # the first word of a sentence always has a capital
    has_capital = text.is_capital[starts[:, None] + np.arange(length)].any(axis=1)
    last_inside = np.maximum.reduceat(np.where(is_inside, starts, -1), edges)
    columns = (
        starts[edges],
        np.bincount(group),
        np.bincount(pairs),
        np.bincount(group, weights=is_inside & has_capital).astype(np.intp),
        np.where(last_inside >= 0, last_inside, starts[edges]),
    )
    scores = None if likeness is None else _scores(text, likeness, length, starts, group)
    numbers = text.word[starts[edges][:, None] + np.arange(length)].tolist()
    for i, (group_words, first, count, documents, capitals, shown) in enumerate(
        zip(numbers, *(column.tolist() for column in columns), strict=True)
    ):
        lower = tuple([text.words[k] for k in group_words])
        if looks_like_a_name(lower):
            score, number = (0.0, 0) if scores is None else scores[i]
            yield _Candidate(lower, count, documents, capitals, first, shown, score, number)


def _scores(
    text: TokenColumns, likeness: Likeness, length: int, starts: _Rows, group: _Rows
) -> list[tuple[float, int]]:
    """Return how much each group looks like a match, and the type that it looks most like.

    Contexts and capitals are means over its places, with two more that say nothing; its words are
    as likely as the least likely of them.
    """
    last = starts + length - 1
    inside = starts[:, None] + np.arange(length)
    contexts = likeness.before[starts] + likeness.after[last]
    shapes = likeness.shape[inside].mean(axis=1)
    times = np.bincount(group)[:, None]
    total = _sums(contexts, group) / (times + 2) + _sums(shapes, group) / times
    first = starts[np.flatnonzero(np.diff(group, prepend=-1))]
    is_word = ~text.is_hyphen[first[:, None] + np.arange(length)]
    letters = likeness.word[text.word[first[:, None] + np.arange(length)]]
    total += np.where(is_word[..., None], letters, np.inf).min(axis=1)
    is_begin, is_end = text.place[starts] == 0, np.append(text.place[1:] == 0, True)[last]
    touches = ~is_begin & text.is_hyphen[starts - 1]
    touches |= ~is_end & text.is_hyphen[(last + 1) % len(text.is_hyphen)]
    is_part = np.bincount(group, weights=touches) >= _MOSTLY * times[:, 0]
    numbers = total[:, 1:].argmax(axis=1) + 1
    ranked = total[:, 0] - 1_000 * is_part
    return list(zip(ranked.tolist(), numbers.tolist(), strict=True))


def _sums(values: npt.NDArray[np.float64], group: _Rows) -> npt.NDArray[np.float64]:
    """Return the sum of the rows of each group."""
    return np.stack([np.bincount(group, weights=column) for column in values.T], axis=1)


# ---- choosing -------------------------------------------------------------------------------


def _row(text: TokenColumns, candidate: _Candidate, types: Sequence[str]) -> dict[str, object]:
    return {
        "phrase": _surface(text, candidate.shown, len(candidate.words)),
        "entity_type": types[candidate.type_number],
        "count": candidate.times,
        "documents": candidate.documents,
        "capitalized": candidate.capitals / candidate.times,
        "example": text.sentences[int(text.sentence[candidate.first])].text,
    }


def _surface(text: TokenColumns, token: int, length: int) -> str:
    sentence = text.sentences[int(text.sentence[token])]
    first = int(text.place[token])
    return sentence.surface(first, first + length)


def looks_like_a_name(words: tuple[str, ...]) -> bool:
    """Return whether no end is a stop word or number, and one word is not everyday English."""
    if any(is_stop_word(word) or word.isdigit() for word in (words[0], words[-1])):
        return False
    telling = [w for w in words if len(w) > 2 and w.isalpha() and not is_common_word(w)]
    return bool(telling)


def _without_parts(counts: dict[tuple[str, ...], int]) -> dict[tuple[str, ...], int]:
    """Leave out candidates that are nearly always part of a longer one."""
    covered: Counter[tuple[str, ...]] = Counter()
    for words, n in counts.items():
        for size in range(1, len(words)):
            for start in range(len(words) - size + 1):
                part = words[start : start + size]
                covered[part] = max(covered[part], n)
    return {words: n for words, n in counts.items() if covered[words] < 0.8 * n}
