"""Distant labels become figures: how much of the text the dictionaries reach, and what they miss.

Coverage is not recall: it says how much was labeled, not how much should have been.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine.audit import is_common_word, is_stop_word
from engine.distant import DistantLabels, credits
from engine.resolution import SAME_TYPE
from engine.text import Sentence

# Enough text to see what is frequent; beyond it only time and memory grow.
_CANDIDATE_TOKENS = 1_000_000
_LONGEST_CANDIDATE = 4  # tokens


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
    """Return one row a type: phrases, phrases used, matches, tokens labeled, sentences."""
    return _coverage_by(labels, "entity_type", list(labels.types))


def coverage_by_dictionary(labels: DistantLabels) -> pd.DataFrame:
    """Return one row a dictionary; a match that several dictionaries explain counts for each.

    `only_here` counts the matches that no other dictionary explains.
    """
    return _coverage_by(labels, "dictionary", list(dict.fromkeys(labels.dictionaries)))


def coverage_along(labels: DistantLabels, bins: int = 20) -> pd.DataFrame:
    """Return coverage in equal stretches of the corpus, to show files that are labeled unevenly."""
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


def phrase_usage(labels: DistantLabels) -> pd.DataFrame:
    """Return every phrase with its matches and the matches it lost, most used first."""
    table = labels.phrases.copy()
    table["matches"] = _count(credits(labels)["phrase"], len(table))
    lost = labels.matches[labels.matches["outcome"] > SAME_TYPE]
    table["lost"] = _count(lost["phrase"], len(table))
    return table.sort_values(
        ["matches", "lost", "phrase"], ascending=[False, False, True], ignore_index=True
    )


def missing_candidates(
    labels: DistantLabels, sentences: Sequence[Sentence], *, least: int = 3, most: int = 200
) -> pd.DataFrame:
    """Return frequent n-grams of unlabeled tokens that look like names: "maybe missing".

    Capitalized away from the sentence's start, or repeated and not everyday English. Columns:
    phrase, count, documents, capitalized, example.
    """
    counts: Counter[tuple[str, ...]] = Counter()
    capitalized: Counter[tuple[str, ...]] = Counter()
    seen_in: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    shown: dict[tuple[str, ...], str] = {}
    example: dict[tuple[str, ...], str] = {}
    for sentence, stretch in _unlabeled_stretches(labels, sentences):
        for start, words in _word_groups(sentence.tokens, stretch):
            key = tuple(word.lower() for word in words)
            counts[key] += 1
            capitalized[key] += start > 0 and any(word[0].isupper() for word in words)
            seen_in[key].add(sentence.document_id)
            example.setdefault(key, sentence.text)
            if start > 0 or key not in shown:  # a sentence's first word has a capital anyway
                shown[key] = _surface(sentence, start, start + len(words))
    # Alphabetical, so that equals stand in one order.
    frequent = {
        key: n for key, n in sorted(counts.items()) if n >= least and _looks_like_a_name(key)
    }
    rows = [
        {
            "phrase": shown[key],
            "count": n,
            "documents": len(seen_in[key]),
            "capitalized": capitalized[key] / n,
            "example": example[key],
        }
        for key, n in _without_parts(frequent).items()
    ]
    table = pd.DataFrame(rows, columns=["phrase", "count", "documents", "capitalized", "example"])
    # Names of a field come in bunches and with capitals; filler is spread thin over all documents.
    bunched = table["count"] / table["documents"] - 0.9 + table["capitalized"]
    order = (-table["count"] * bunched).argsort(kind="stable")
    return table.iloc[order].head(most).reset_index(drop=True)


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


def _unlabeled_stretches(
    labels: DistantLabels, sentences: Sequence[Sentence]
) -> Iterator[tuple[Sentence, range]]:
    """Runs of unlabeled tokens, from sentences spread evenly when the corpus is large."""
    step = max(1, -(-len(labels.labels) // _CANDIDATE_TOKENS))
    for i in range(0, len(sentences), step):
        of = labels.of_sentence(i)
        edges = np.flatnonzero(np.diff(np.concatenate(([1], of != 0, [1]))))
        for first, last in zip(edges[0::2].tolist(), edges[1::2].tolist(), strict=True):
            yield sentences[i], range(first, last)


def _word_groups(tokens: Sequence[str], stretch: range) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Every group of up to four neighbouring words; punctuation other than a hyphen parts them."""
    for start in stretch:
        if not _is_word(tokens[start]):
            continue
        for end in range(start + 1, min(start + _LONGEST_CANDIDATE, stretch.stop) + 1):
            last = tokens[end - 1]
            if not (_is_word(last) or last == "-"):
                break
            if _is_word(last):
                yield start, tuple(tokens[start:end])


def _surface(sentence: Sentence, start: int, end: int) -> str:
    return sentence.text[
        sentence.starts[start] : sentence.starts[end - 1] + len(sentence.tokens[end - 1])
    ]


def _is_word(token: str) -> bool:
    return token[0].isalnum()


def _looks_like_a_name(words: tuple[str, ...]) -> bool:
    """No stop word at either end, at least one word that is not everyday English or a number."""
    if any(is_stop_word(word) or word.isdigit() for word in (words[0], words[-1])):
        return False
    telling = [w for w in words if len(w) > 2 and w.isalpha() and not is_common_word(w)]
    return bool(telling)


def _without_parts(counts: dict[tuple[str, ...], int]) -> dict[tuple[str, ...], int]:
    """Leave out what nearly always stands inside a longer candidate."""
    covered: Counter[tuple[str, ...]] = Counter()
    for words, n in counts.items():
        for size in range(1, len(words)):
            for start in range(len(words) - size + 1):
                part = words[start : start + size]
                covered[part] = max(covered[part], n)
    return {words: n for words, n in counts.items() if covered[words] < 0.8 * n}
