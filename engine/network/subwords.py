"""Split sentences into windows of sub-words for an encoder, and pool its vectors per token.

A sentence that is too long for one window gets several that overlap. Windows are cut between tokens
only. Each token belongs to one window: the one that shows the most context around it.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.network.device import to_device

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

Ints = npt.NDArray[np.int64]

_ENCODED_AT_ONCE = 10_000  # distinct tokens; bounds what the tokenizer holds in memory


@dataclass(frozen=True, slots=True)
class SubwordBatch:
    """Windows of some sentences, and where each token's sub-words are in them.

    Row i of the logits belongs to token ``tokens[i]``.
    """

    input_ids: Tensor  # (windows, width), special sub-words and padding included
    attention_mask: Tensor  # (windows, width), 1 = read, 0 = padding
    positions: Tensor  # (sub-words,), into the windows laid end to end: row * width + column
    segments: Tensor  # (sub-words,), the row of `tokens` that each belongs to, ascending
    tokens: Tensor  # (n,), flat token indices, all sentences end to end

    def to(self, device: torch.device | str) -> "SubwordBatch":
        there = torch.device(device)
        return SubwordBatch(
            to_device(self.input_ids, there),
            to_device(self.attention_mask, there),
            to_device(self.positions, there),
            to_device(self.segments, there),
            to_device(self.tokens, there),
        )


@dataclass(frozen=True, slots=True)
class PackedBatch:
    """Windows laid end to end without padding, shortest first; else as a SubwordBatch."""

    ids: Tensor  # (all sub-words,), special ones included
    places: Tensor  # (all sub-words,), place of each in its window, from 0
    groups: tuple[tuple[int, int], ...]  # length of windows, and how many follow of that length
    positions: Tensor
    segments: Tensor
    tokens: Tensor


def pool(hidden: Tensor, batch: SubwordBatch | PackedBatch) -> Tensor:
    """Return the mean vector of each token's sub-words.

    hidden: (windows, width, dim), or (sub-words, dim) of a packed batch.
    Returns (n, dim), in the order of ``batch.tokens``.
    """
    count = len(batch.tokens)
    subwords = hidden.reshape(-1, hidden.shape[-1]).index_select(0, batch.positions)
    sums = hidden.new_zeros((count, hidden.shape[-1])).index_add(0, batch.segments, subwords)
    sizes = torch.bincount(batch.segments, minlength=count)
    return sums / sizes.unsqueeze(1).to(sums.dtype)


class SubwordInputs:
    """Sentences as an encoder reads them, cut into batches by sentence."""

    def __init__(
        self,
        sentences: Sequence[Sequence[str]],
        tokenizer: "PreTrainedTokenizerFast",
        *,
        window: int = 256,
        stride: int = 64,
    ) -> None:
        """Encode every distinct token once and lay out all windows.

        window: the most sub-words in a window, special ones included.
        stride: the most sub-words that two windows of a sentence share.
        """
        self._prefix, self._suffix = _special_ids(tokenizer)
        capacity = window - len(self._prefix) - len(self._suffix)
        if not 0 <= stride < capacity:
            raise ValueError(
                f"stride must be 0 or more and below the {capacity} sub-words that a window of "
                f"{window} has room for, got {stride}"
            )
        self._pad_id = tokenizer.pad_token_id or 0
        self._sentence_ends = _ends([len(tokens) for tokens in sentences])
        encoded = _encode_tokens(list(chain.from_iterable(sentences)), tokenizer, capacity)
        self._ids, self._token_ends, self.cut_tokens = encoded
        self._windows = _lay_windows(self._sentence_ends, self._token_ends, capacity, stride)
        self._window_ends = _ends(
            np.bincount(self._windows.sentence, minlength=len(sentences)).tolist()
        )

    @property
    def sentence_count(self) -> int:
        return len(self._sentence_ends) - 1

    @property
    def token_count(self) -> int:
        return int(self._sentence_ends[-1])

    @property
    def sentence_sizes(self) -> Ints:
        """The size of each sentence's longest window, special sub-words included."""
        sizes = np.zeros(self.sentence_count, dtype=np.int64)
        np.maximum.at(sizes, self._windows.sentence, self._window_sizes(slice(None)))
        return sizes

    @property
    def fingerprint(self) -> str:
        """A hash of all that an encoder would read."""
        digest = hashlib.sha256()
        edges = np.array([*self._prefix, -1, *self._suffix], dtype=np.int64)
        for array in (edges, self._ids, self._token_ends, self._sentence_ends, *self._windows):
            digest.update(len(array).to_bytes(8, "little"))
            digest.update(array.astype("<i8").tobytes())
        return digest.hexdigest()

    def batch(self, sentence_indices: Sequence[int] | Ints) -> SubwordBatch:
        """Return the sentences in the order given, padded to the longest window among them."""
        chosen = np.asarray(sentence_indices, dtype=np.int64)
        rows = _ranges(self._window_ends[chosen], self._window_ends[chosen + 1])
        sizes = self._window_sizes(rows)
        input_ids = self._fill(rows, sizes)
        width = input_ids.shape[1]
        attention_mask = np.arange(width) < sizes[:, None]
        positions, segments, tokens = self._locate(rows, np.arange(len(rows)) * width)
        return SubwordBatch(
            torch.from_numpy(input_ids),
            torch.from_numpy(attention_mask.astype(np.int64)),
            torch.from_numpy(positions),
            torch.from_numpy(segments),
            torch.from_numpy(tokens),
        )

    def packed(self, sentence_indices: Sequence[int] | Ints) -> PackedBatch:
        """Return the sentences without padding, windows of the same length side by side."""
        chosen = np.asarray(sentence_indices, dtype=np.int64)
        rows = _ranges(self._window_ends[chosen], self._window_ends[chosen + 1])
        rows = rows[np.argsort(self._window_sizes(rows), kind="stable")]
        sizes = self._window_sizes(rows)
        ends, before, after = _ends(sizes), len(self._prefix), len(self._suffix)
        starts, stops = ends[:-1], ends[1:]
        first, last = self._windows.first[rows], self._windows.last[rows]
        ids = np.empty(ends[-1], dtype=np.int64)
        ids[starts[:, None] + np.arange(before)] = self._prefix
        ids[_ranges(starts + before, stops - after)] = self._ids[
            _ranges(self._token_ends[first], self._token_ends[last])
        ]
        ids[stops[:, None] - after + np.arange(after)] = self._suffix
        lengths, counts = np.unique(sizes, return_counts=True)
        positions, segments, tokens = self._locate(rows, starts)
        return PackedBatch(
            torch.from_numpy(ids),
            torch.from_numpy(_ranges(np.zeros_like(sizes), sizes)),
            tuple(zip(lengths.tolist(), counts.tolist(), strict=True)),
            torch.from_numpy(positions),
            torch.from_numpy(segments),
            torch.from_numpy(tokens),
        )

    def first_alike(self) -> Ints:
        """Return for each sentence the first one whose sub-words and tokens are the same."""
        first: dict[bytes, int] = {}
        alike = np.arange(self.sentence_count)
        ends = self._token_ends
        for sentence, (start, stop) in enumerate(pairwise(self._sentence_ends.tolist())):
            ids = self._ids[ends[start] : ends[stop]]
            own_ends = ends[start : stop + 1] - ends[start]
            key = own_ends.tobytes() + ids.tobytes()  # the last end says where the ids begin
            alike[sentence] = first.setdefault(key, sentence)
        return alike

    def tokens_of(self, sentence_indices: Ints) -> Ints:
        """Return the flat indices of the sentences' tokens."""
        return _ranges(
            self._sentence_ends[sentence_indices], self._sentence_ends[sentence_indices + 1]
        )

    def _window_sizes(self, rows: Ints | slice) -> Ints:
        first, last = self._windows.first[rows], self._windows.last[rows]
        content = self._token_ends[last] - self._token_ends[first]
        return content + len(self._prefix) + len(self._suffix)

    def _fill(self, rows: Ints, sizes: Ints) -> Ints:
        """Return the padded matrix of sub-word ids: (windows, width)."""
        width = int(sizes.max(initial=len(self._prefix) + len(self._suffix)))
        filled = np.full((len(rows), width), self._pad_id, dtype=np.int64)
        filled[:, : len(self._prefix)] = self._prefix
        starts = self._token_ends[self._windows.first[rows]]
        stops = self._token_ends[self._windows.last[rows]]
        line = np.arange(len(rows)) * width
        content_at = line + len(self._prefix)
        filled.reshape(-1)[_ranges(content_at, content_at + stops - starts)] = self._ids[
            _ranges(starts, stops)
        ]
        suffix_at = line + sizes - len(self._suffix)
        filled.reshape(-1)[suffix_at[:, None] + np.arange(len(self._suffix))] = self._suffix
        return filled

    def _locate(self, rows: Ints, starts: Ints) -> tuple[Ints, Ints, Ints]:
        """Return where each token's sub-words are, the row of its token for each, and the tokens.

        starts: where each window begins among all.  A token's sub-words are those of the window
        that it belongs to.
        """
        windows, ends = self._windows, self._token_ends
        own_first, own_last = windows.own_first[rows], windows.own_last[rows]
        origin = starts + len(self._prefix) - ends[windows.first[rows]]
        positions = _ranges(origin + ends[own_first], origin + ends[own_last])
        tokens = _ranges(own_first, own_last)
        segments = np.repeat(np.arange(len(tokens)), ends[tokens + 1] - ends[tokens])
        return positions, segments, tokens


# ---- tokens -> sub-words --------------------------------------------------------------------


def _special_ids(tokenizer: "PreTrainedTokenizerFast") -> tuple[list[int], list[int]]:
    """Return the ids that the tokenizer puts before and after a text, e.g. [CLS] and [SEP]."""
    encoding = tokenizer(" a", return_special_tokens_mask=True, padding=False, truncation=False)
    ids, is_special = encoding["input_ids"], encoding["special_tokens_mask"]
    before = is_special.index(0) if 0 in is_special else len(ids)
    after = is_special[::-1].index(0) if 0 in is_special else 0
    return ids[:before], ids[len(ids) - after :]


def _encode_tokens(
    tokens: list[str], tokenizer: "PreTrainedTokenizerFast", capacity: int
) -> tuple[Ints, Ints, int]:
    """Return all sub-word ids end to end, where each token ends, and how many were cut."""
    numbers: dict[str, int] = {}
    kinds = np.array([numbers.setdefault(t, len(numbers)) for t in tokens], dtype=np.int64)
    pieces = _encode_distinct(list(numbers), tokenizer)
    sizes = np.array([len(piece) for piece in pieces], dtype=np.int64)
    kind_ends = _ends(sizes)
    kept = np.minimum(sizes, capacity)[kinds]
    flat = np.fromiter(chain.from_iterable(pieces), dtype=np.int64, count=int(sizes.sum()))
    starts = kind_ends[kinds]
    return flat[_ranges(starts, starts + kept)], _ends(kept), int((sizes[kinds] > capacity).sum())


def _encode_distinct(tokens: list[str], tokenizer: "PreTrainedTokenizerFast") -> list[list[int]]:
    """Return the sub-word ids of each token, at least one.

    Each is encoded after a space: to byte-level tokenizers it marks the start of a word, whatever
    their add_prefix_space says, and others ignore it. Text that looks like a special sub-word
    ("[SEP]") is treated as plain text.
    """
    unknown = tokenizer.unk_token_id
    at_least = [unknown if unknown is not None else tokenizer.pad_token_id or 0]
    pieces: list[list[int]] = []
    for start in range(0, len(tokens), _ENCODED_AT_ONCE):
        encoding = tokenizer(
            [f" {token}" for token in tokens[start : start + _ENCODED_AT_ONCE]],
            add_special_tokens=False,
            split_special_tokens=True,
            padding=False,
            truncation=False,
            return_attention_mask=False,
            verbose=False,
        )
        pieces.extend(ids or at_least for ids in encoding["input_ids"])
    return pieces


# ---- sub-words -> windows -------------------------------------------------------------------


class _Windows(NamedTuple):
    """One entry per window: flat indices of the tokens it shows, and of those that belong to it."""

    sentence: Ints
    first: Ints
    last: Ints  # half-open
    own_first: Ints
    own_last: Ints  # half-open


def _lay_windows(sentence_ends: Ints, token_ends: Ints, capacity: int, stride: int) -> _Windows:
    """Return the windows of all sentences, in order; a sentence without tokens has none."""
    first, last = sentence_ends[:-1], sentence_ends[1:]
    is_long = token_ends[last] - token_ends[first] > capacity
    short = np.flatnonzero((first < last) & ~is_long)
    parts = [np.stack([short, first[short], last[short], first[short], last[short]])]
    for sentence in np.flatnonzero(is_long):
        ends = token_ends[first[sentence] : last[sentence] + 1]
        cuts = _cut(ends, capacity, stride)
        rows = np.stack([*cuts, *_owned(ends, *cuts)]) + first[sentence]
        parts.append(np.vstack([np.full(rows.shape[1], sentence), rows]))
    table = np.concatenate(parts, axis=1)
    table = table[:, np.argsort(table[0], kind="stable")]
    windows = _Windows(*table)
    # Drop windows without tokens of their own: all that they show belongs to others.
    return _Windows(*table[:, windows.own_first < windows.own_last])


def _cut(ends: Ints, capacity: int, stride: int) -> tuple[Ints, Ints]:
    """Return the token ranges of the windows of one long sentence.

    ends: (tokens + 1,), sub-words before each token.  A window takes as many tokens as fit. The
    next one starts as early as the stride allows, but must show at least one more token.
    """
    token_count = len(ends) - 1
    starts, stops = [0], [int(np.searchsorted(ends, ends[0] + capacity, side="right")) - 1]
    while stops[-1] < token_count:
        stop = stops[-1]
        earliest = max(ends[stop] - stride, ends[stop + 1] - capacity)
        start = int(np.searchsorted(ends, earliest, side="left"))
        starts.append(start)
        stops.append(int(np.searchsorted(ends, ends[start] + capacity, side="right")) - 1)
    return np.array(starts, dtype=np.int64), np.array(stops, dtype=np.int64)


def _owned(ends: Ints, starts: Ints, stops: Ints) -> tuple[Ints, Ints]:
    """Return the tokens of each window: a token goes where its nearer edge is farthest away."""
    token = _ranges(starts, stops)
    window = np.repeat(np.arange(len(starts)), stops - starts)
    before = ends[token] - ends[starts[window]]
    after = ends[stops[window]] - ends[token + 1]
    best_first = np.lexsort((window, -np.minimum(before, after), token))
    _, firsts = np.unique(token[best_first], return_index=True)
    owner = window[best_first][firsts]  # (tokens,), ascending
    windows = np.arange(len(starts))
    return np.searchsorted(owner, windows), np.searchsorted(owner, windows, side="right")


def _ends(sizes: Sequence[int] | Ints) -> Ints:
    """Return the running sum of `sizes`, with a 0 before it."""
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


def _ranges(starts: Ints, stops: Ints) -> Ints:
    """Return the integers of all ranges, one range after the other.

    >>> _ranges(np.array([3, 9]), np.array([5, 12]))
    array([ 3,  4,  9, 10, 11])
    """
    ends = _ends(stops - starts)
    return np.arange(ends[-1]) + np.repeat(starts - ends[:-1], stops - starts)
