"""Cut sentences into batches of tensors, without padding and with each distinct word once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.network.device import to_device

_LENGTH_GROUPS = 4  # of the words of a batch; each is padded to its longest word


class Batch(Protocol):
    """The input of a tagger; row r of the logits belongs to token `tokens[r]`."""

    @property
    def tokens(self) -> Tensor: ...


class Inputs(Protocol):
    """A corpus that can be cut into batches."""

    bounds: npt.NDArray[np.int64]

    def batch(self, sentence_indices: npt.NDArray[np.int64]) -> Batch: ...


@dataclass(frozen=True, slots=True)
class WordBatch:
    """Tokens of some sentences in the order of a packed LSTM: all first tokens first."""

    tokens: Tensor  # (n,), flat token indices; row r of the logits is token tokens[r]
    word_of: Tensor  # (n,), row of the token in the three word tables
    vectors: Tensor  # (distinct words, vector size)
    characters: tuple[Tensor, ...]  # the same words in groups, (words, longest), 0 = padding
    casing: Tensor  # (distinct words,)
    bits: Tensor  # (n, bits), lexicon bits
    context: Tensor  # (n, context size), a hidden layer of a frozen transformer
    batch_sizes: Tensor  # (longest,), how many sentences have a token at step t; on the CPU


class WordInputs:
    """The inputs of a BiLSTM: tables per distinct word, bits and context per token."""

    def __init__(
        self,
        sentences: Sequence[Sequence[str]],
        vectors: npt.NDArray[np.float32],
        characters: npt.NDArray[np.int16],
        casing: npt.NDArray[np.int8],
        *,
        word_ids: npt.NDArray[np.int32],
        bits: npt.NDArray[np.bool_] | None = None,
        context: npt.NDArray[np.float16] | None = None,
        device: torch.device,
    ) -> None:
        self.bounds = sentence_bounds(sentences)
        self.device = device
        self.vectors = torch.from_numpy(vectors).to(device)
        self.characters = torch.from_numpy(characters.astype(np.int64)).to(device)
        self._word_lengths = np.maximum((characters != 0).sum(axis=1), 1)
        self.casing = torch.from_numpy(casing.astype(np.int64)).to(device)
        self.word_ids = word_ids
        # Bits become floats only inside a batch: a large corpus would not fit in memory otherwise.
        self._bits = np.zeros((len(word_ids), 0), bool) if bits is None else bits
        self.context = np.zeros((len(word_ids), 0), np.float16) if context is None else context
        self.vector_size = vectors.shape[1]
        self.bit_size = self._bits.shape[1]
        self.context_size = self.context.shape[1]

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def batch(self, sentence_indices: npt.NDArray[np.int64]) -> WordBatch:
        """Return the sentences' tokens in packed order, longest sentence first."""
        starts = self.bounds[sentence_indices]
        lengths = self.bounds[sentence_indices + 1] - starts
        order = np.argsort(-lengths, kind="stable")
        starts, lengths = starts[order], lengths[order]
        steps = np.arange(lengths[0])[:, None]
        has_token = steps < lengths[None, :]  # (longest, sentences)
        tokens = (starts[None, :] + steps)[has_token]
        words, word_of = self._words_by_length(self.word_ids[tokens])
        rows = self._moved(words)
        return WordBatch(
            tokens=self._moved(tokens),
            word_of=self._moved(word_of),
            vectors=self.vectors[rows],
            characters=self._characters_of(words),
            casing=self.casing[rows],
            bits=self._moved(self._bits[tokens].astype(np.float32)),
            context=self._moved(self.context[tokens].astype(np.float32)),
            batch_sizes=torch.from_numpy(has_token.sum(axis=1)),
        )

    def _moved(self, array: npt.NDArray[Any]) -> Tensor:
        return to_device(torch.from_numpy(array), self.device)

    def _words_by_length(
        self, word_ids: npt.NDArray[np.int32]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the distinct words, shortest first, and the index of each token's word."""
        words, word_of = np.unique(word_ids, return_inverse=True)
        order = np.argsort(self._word_lengths[words], kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return words[order].astype(np.int64), place[word_of]

    def _characters_of(self, words: npt.NDArray[np.int64]) -> tuple[Tensor, ...]:
        """Return the words' characters in groups, each padded to its longest word.

        Most words are short and a few are very long: one group would be mostly padding.
        """
        groups = np.array_split(words, min(_LENGTH_GROUPS, len(words)))
        return tuple(
            self.characters[self._moved(group), : self._word_lengths[group[-1]]] for group in groups
        )


def sentence_bounds(sentences: Sequence[Sequence[str]]) -> npt.NDArray[np.int64]:
    """Return where each sentence begins among the tokens of all, and where the last one ends."""
    bounds = np.zeros(len(sentences) + 1, dtype=np.int64)
    np.cumsum([len(tokens) for tokens in sentences], out=bounds[1:])
    return bounds


def training_batches(
    bounds: npt.NDArray[np.int64],
    batch_size: int,
    *,
    seed: int,
    epoch: int,
    only: npt.NDArray[np.int64] | None = None,
) -> Iterator[npt.NDArray[np.int64]]:
    """Yield batches of sentences of similar length, in random order, as sentence indices.

    They depend on seed and epoch only, so a resumed run gets the same batches.
    """
    random = np.random.default_rng((seed, epoch))
    lengths = np.diff(bounds)
    usable = np.flatnonzero(lengths > 0) if only is None else only[lengths[only] > 0]
    # Random noise of a tenth on the lengths makes batches differ between epochs.
    noisy = lengths[usable] * random.uniform(0.9, 1.1, len(usable)) + random.random(len(usable))
    by_length = usable[np.argsort(noisy, kind="stable")]
    batches = [by_length[i : i + batch_size] for i in range(0, len(by_length), batch_size)]
    for i in random.permutation(len(batches)):
        yield batches[i]


def prediction_batches(
    bounds: npt.NDArray[np.int64],
    batch_tokens: int,
    *,
    only: npt.NDArray[np.int64] | None = None,
) -> Iterator[npt.NDArray[np.int64]]:
    """Yield non-empty sentences sorted by length, in batches of about `batch_tokens` tokens."""
    lengths = np.diff(bounds)
    usable = np.flatnonzero(lengths > 0) if only is None else only[lengths[only] > 0]
    by_length = usable[np.argsort(lengths[usable], kind="stable")]
    if not len(by_length):
        return
    group = np.cumsum(lengths[by_length]) // batch_tokens
    cuts = np.flatnonzero(np.diff(group)) + 1
    yield from np.split(by_length, cuts)
