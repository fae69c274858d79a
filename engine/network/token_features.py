"""Fixed features of each token for a linear model: its word, its letters, its neighbours, context.

Nothing here is learned. Random units and random projections depend on the seed alone.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.network.batches import WordInputs
from engine.network.word_shapes import CASING_CLASSES, lower_ids

_NGRAM_SIZE = 96  # columns that the letters of a word are projected to
_NGRAM_LENGTHS = (1, 2, 3, 4)
_NGRAM_BUCKETS = 1 << 14
_RANDOM_UNITS = 256
_TOKENS_AT_ONCE = 20_000
# A text this short keeps its rows (170 MB with MiniLM's layer). The linear models read them twice
# per round, and making them takes nearly half as long as a round.
_TOKENS_KEPT = 40_000


class TokenFeatures:
    """Standardized features of every token of a corpus, made some tokens at a time.

    Word vector and casing of a token and of its neighbours, hashed character n-grams, the context
    layer, and random units that let a linear model combine them. Lexicon bits are left out: they
    equal the labels.
    """

    def __init__(self, inputs: WordInputs, seed: int) -> None:
        self._inputs = inputs
        self.device = inputs.device
        random = np.random.default_rng(seed)
        letters = _hashed_ngrams(inputs.characters.cpu().numpy(), random)
        self._letters = letters.to(inputs.device)
        self._before, self._after = _neighbours(inputs.bounds)
        width = 3 * (inputs.vector_size + len(CASING_CLASSES)) + _NGRAM_SIZE + inputs.context_size
        self._mean, self._scale = self._moments(width)
        self._mixing = _normal(random, width, _RANDOM_UNITS).to(inputs.device) / width**0.5
        self._shift = _normal(random, 1, _RANDOM_UNITS).to(inputs.device)
        self.size = width + _RANDOM_UNITS + 1  # the last column is constant
        self._kept: dict[int, Tensor] = {}

    def __len__(self) -> int:
        return int(self._inputs.bounds[-1])

    def rows(self) -> Iterator[tuple[slice, Tensor]]:
        """Yield the features of all tokens in order, (tokens, size) at a time."""
        for part in self._slices():
            rows = self._kept.get(part.start)
            if rows is None:
                rows = self._rows(part)
                if len(self) <= _TOKENS_KEPT:
                    self._kept[part.start] = rows
            yield part, rows

    def _rows(self, part: slice) -> Tensor:
        plain = (self._plain(part) - self._mean) * self._scale
        units = (plain @ self._mixing + self._shift).relu()
        return torch.cat([plain, units, torch.ones_like(units[:, :1])], dim=1)

    def _slices(self) -> Iterator[slice]:
        for begin in range(0, len(self), _TOKENS_AT_ONCE):
            yield slice(begin, min(begin + _TOKENS_AT_ONCE, len(self)))

    def _plain(self, part: slice) -> Tensor:
        inputs = self._inputs
        middle, before, after = (
            self._word_rows(places[part])
            for places in (np.arange(len(self)), self._before, self._after)
        )
        words = torch.from_numpy(inputs.word_ids[part].astype(np.int64)).to(inputs.device)
        context = torch.from_numpy(inputs.context[part].astype(np.float32)).to(inputs.device)
        return torch.cat([middle, before, after, self._letters[words], context], dim=1)

    def _word_rows(self, tokens: npt.NDArray[np.int64]) -> Tensor:
        """Return vector and casing of the tokens; zeros where the number is -1."""
        inputs = self._inputs
        words = torch.from_numpy(inputs.word_ids[tokens].astype(np.int64)).to(inputs.device)
        casing = torch.nn.functional.one_hot(inputs.casing[words], len(CASING_CLASSES)).float()
        is_there = torch.from_numpy(tokens >= 0).to(inputs.device)[:, None]
        return torch.cat([inputs.vectors[words], casing], dim=1) * is_there

    def _moments(self, width: int) -> tuple[Tensor, Tensor]:
        total = torch.zeros(2, width, dtype=torch.float64, device=self._inputs.device)
        for part in self._slices():
            rows = self._plain(part).double()
            total += torch.stack([rows.sum(dim=0), rows.square().sum(dim=0)])
        mean, square = total / max(len(self), 1)
        deviation = (square - mean.square()).clamp(min=0).sqrt()
        scale = torch.where(deviation > 1e-6, 1 / deviation.clamp(min=1e-6), 0.0)
        return mean.float(), scale.float()


def _normal(random: np.random.Generator, rows: int, columns: int) -> Tensor:
    return torch.from_numpy(random.standard_normal((rows, columns)).astype(np.float32))


def _neighbours(
    bounds: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the token before and the token after each token in its sentence; -1 for none."""
    tokens = np.arange(int(bounds[-1]))
    before, after = tokens - 1, tokens + 1
    lengths = np.diff(bounds)
    before[bounds[:-1][lengths > 0]] = -1
    after[bounds[1:][lengths > 0] - 1] = -1
    return before, after


def _hashed_ngrams(characters: npt.NDArray[np.int64], random: np.random.Generator) -> Tensor:
    """Return (words, _NGRAM_SIZE): the words' n-grams, hashed and projected at random."""
    columns = _normal(random, _NGRAM_BUCKETS, _NGRAM_SIZE)
    edges = np.pad(lower_ids(characters) + 1, ((0, 0), (1, 1)))  # room for begin and end
    lengths = (characters != 0).sum(axis=1)
    rows = np.arange(len(edges))
    edges[:, 0] = edges[rows, lengths + 1] = 1  # what padding would be, now begin and end
    edges[np.arange(edges.shape[1])[None, :] > (lengths + 1)[:, None]] = 0
    result = torch.zeros(len(edges), _NGRAM_SIZE)
    for n in _NGRAM_LENGTHS:
        starts = edges.shape[1] - n + 1
        codes = np.zeros((len(edges), starts), np.int64)
        is_whole = np.ones(codes.shape, bool)
        for i in range(n):
            at = edges[:, i : i + starts]
            codes = (codes * 1_000_003 + at * 8_191 + n) % 2_147_483_647
            is_whole &= at != 0
        word, place = np.nonzero(is_whole)
        buckets = torch.from_numpy(codes[word, place] % _NGRAM_BUCKETS)
        offsets = torch.from_numpy(np.searchsorted(word, rows))
        result += torch.nn.functional.embedding_bag(buckets, columns, offsets, mode="sum")
    return result / torch.from_numpy(np.maximum(lengths, 1)).float().sqrt()[:, None]
