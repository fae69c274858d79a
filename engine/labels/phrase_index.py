"""Find every place of many phrases in a text of token codes; two indexes, chosen by size.

FlashtextIndex is a trie of dictionaries, which flashtext makes. It is ready soonest for small and
medium dictionaries. On the raw text flashtext's case folding shifts offsets and its words are
ASCII; on codes, one character each, a match cannot begin or end inside a token. We walk the trie
ourselves, because `extract_keywords` reports only the leftmost longest phrase.

ArrayIndex is the same trie in arrays. It takes one step along the trie from all tokens of the text
at once, so that numpy does the work. For large dictionaries and texts it is several times faster.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from flashtext import KeywordProcessor

from engine.labels.vocabulary import Codes, Entries

# The most tokens of phrases, and of a text, that flashtext serves.
_MOST_PHRASE_TOKENS, _MOST_TOKENS = 50_000, 100_000
_FIRST_CHARACTER = 0x100  # of the codes; what is below stands for tokens of no phrase
_SURROGATES = range(0xD800, 0xE000)  # no characters
_LEAF = "_keyword_"  # flashtext's own key for "a phrase ends here"
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # spreads keys evenly (Fibonacci hashing)

_Numbers = npt.NDArray[np.int64]


class Places(NamedTuple):
    """Where phrases stand in a text of codes, in any order."""

    starts: _Numbers
    ends: _Numbers
    phrase_ids: Codes


class PhraseIndex(Protocol):
    """What both indexes do."""

    def find(self, codes: Codes) -> Places:
        """Return every place of a phrase, nested and overlapping ones too.

        `codes` are the tokens of a text; a negative one is in no phrase.
        """


def make_index(entries: Entries, tokens: int) -> PhraseIndex:
    """Return the index that suits these phrases and a text of this many tokens."""
    is_large = len(entries.codes) > _MOST_PHRASE_TOKENS or tokens > _MOST_TOKENS
    return ArrayIndex(entries) if is_large else FlashtextIndex(entries)


# ---- small dictionaries and texts -----------------------------------------------------------


class FlashtextIndex:
    """Phrases in a flashtext processor, one character per token."""

    def __init__(self, entries: Entries) -> None:
        self._processor = KeywordProcessor(case_sensitive=True)
        self._phrase_ids: list[tuple[int, ...]] = [()]  # by leaf; flashtext needs leaves > 0
        text = _characters(entries.codes)
        bounds = pairwise(entries.bounds.tolist())
        for (first, last), phrase_id in zip(bounds, entries.phrase_ids.tolist(), strict=True):
            self._add(text[first:last], phrase_id)

    def _add(self, key: str, phrase_id: int) -> None:
        leaf = self._processor[key]
        if leaf is None:
            self._processor[key] = len(self._phrase_ids)
            self._phrase_ids.append((phrase_id,))
        elif phrase_id not in self._phrase_ids[leaf]:
            self._phrase_ids[leaf] += (phrase_id,)

    def find(self, codes: Codes) -> Places:
        """See `PhraseIndex`."""
        trie: Any = self._processor.keyword_trie_dict
        text = _characters(codes)
        length = len(text)
        starts: list[int] = []
        ends: list[int] = []
        ids: list[int] = []
        for start, first in enumerate(text):
            node = trie.get(first)
            end = start + 1
            while node is not None:
                if _LEAF in node:
                    for phrase_id in self._phrase_ids[node[_LEAF]]:
                        starts.append(start)
                        ends.append(end)
                        ids.append(phrase_id)
                if end == length:
                    break
                node = node.get(text[end])
                end += 1
        return Places(np.array(starts, np.int64), np.array(ends, np.int64), np.array(ids, np.int32))


def _characters(codes: Codes) -> str:
    """Return the codes as one character each."""
    points = codes + np.int32(_FIRST_CHARACTER)
    points[points >= _SURROGATES.start] += len(_SURROGATES)
    return points.astype("<u4").tobytes().decode("utf-32-le")


# ---- large dictionaries and texts -----------------------------------------------------------


class ArrayIndex:
    """Phrases in a trie of arrays.

    Node 0 is the root. The edge to node i + 1 has a key that is its parent's number times the size
    of the vocabulary, plus the code of its token; a table finds the node of a key.
    """

    def __init__(self, entries: Entries) -> None:
        codes, bounds = entries.codes.astype(np.int64), entries.bounds
        self._size = int(codes.max(initial=-1)) + 1  # of the vocabulary
        node = np.zeros(len(entries.phrase_ids), np.int64)  # that each phrase has reached
        keys: list[_Numbers] = []
        left, depth, count = np.flatnonzero(np.diff(bounds)), 0, 1
        while len(left):
            key = node[left] * self._size + codes[bounds[left] + depth]
            distinct, number = np.unique(key, return_inverse=True)
            node[left] = count + number
            keys.append(distinct)
            count += len(distinct)
            depth += 1
            left = left[bounds[left + 1] - bounds[left] > depth]
        # The first token is looked up directly; the last entry is for a token of no phrase.
        self._first_node = np.zeros(self._size + 1, np.int32)
        if keys:
            self._first_node[keys[0]] = np.arange(1, len(keys[0]) + 1)
        self._deeper = _NodeTable(keys[1:], first_node=1 + (len(keys[0]) if keys else 0))
        order = np.lexsort((entries.phrase_ids, node))
        node, ids = node[order], entries.phrase_ids[order]
        is_new = np.ones(len(order), bool)
        is_new[1:] = (node[1:] != node[:-1]) | (ids[1:] != ids[:-1])
        self._phrase_ids = ids[is_new]  # by node
        ending = np.bincount(node[is_new], minlength=count)
        self._ids_of = np.concatenate(([0], np.cumsum(ending))).astype(np.int32)

    def find(self, codes: Codes) -> Places:
        """See `PhraseIndex`."""
        text = np.append(np.maximum(codes, -1), np.int32(-1))
        node = self._first_node[text]
        at = np.flatnonzero(node)
        node = node[at]
        parts = [Places(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int32))]
        length = 1
        while len(at):
            first, last = self._ids_of[node], self._ids_of[node + 1]
            parts.append(self._ending(at, length, first, last))
            code = text[at + length]
            goes_on = code >= 0
            at, key = at[goes_on], node[goes_on].astype(np.int64) * self._size + code[goes_on]
            node = self._deeper.find(key)
            is_node = node > 0
            at, node = at[is_node], node[is_node]
            length += 1
        return Places(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _ending(self, at: _Numbers, length: int, first: Codes, last: Codes) -> Places:
        """Return the phrases that end after `length` tokens."""
        count = last - first
        is_end = np.flatnonzero(count)
        count, start = count[is_end], np.repeat(at[is_end], count[is_end])
        within = np.arange(len(start)) - np.repeat(np.cumsum(count) - count, count)
        ids = self._phrase_ids[np.repeat(first[is_end], count) + within]
        return Places(start, start + length, ids)


class _NodeTable:
    """A hash table from keys to nodes, which are numbered in the order of the keys."""

    def __init__(self, keys: Iterable[_Numbers], first_node: int) -> None:
        joined = np.concatenate([np.zeros(0, np.int64), *keys])
        bits = max(2 * len(joined), 2).bit_length()  # so a quarter to a half of it is used
        self._shift, self._mask = np.uint64(64 - bits), (1 << bits) - 1
        self._keys = np.full(1 << bits, -1, np.int64)
        self._nodes = np.zeros(1 << bits, np.int32)
        slot = self._slots(joined)
        left = np.arange(len(joined))
        while len(left):
            is_free = self._keys[slot] < 0
            self._keys[slot[is_free]] = joined[left[is_free]]
            is_placed = self._keys[slot] == joined[left]
            self._nodes[slot[is_placed]] = first_node + left[is_placed]
            left, slot = left[~is_placed], (slot[~is_placed] + 1) & self._mask

    def find(self, keys: _Numbers) -> Codes:
        """Return the node of each key; 0 if there is none."""
        nodes = np.zeros(len(keys), np.int32)
        slot = self._slots(keys)
        left = np.arange(len(keys))
        while len(left):
            held = self._keys[slot]
            is_found = held == keys[left]
            nodes[left[is_found]] = self._nodes[slot[is_found]]
            goes_on = ~is_found & (held >= 0)
            left, slot = left[goes_on], (slot[goes_on] + 1) & self._mask
        return nodes

    def _slots(self, keys: _Numbers) -> _Numbers:
        return ((keys.astype(np.uint64) * _FACTOR) >> self._shift).astype(np.int64)
