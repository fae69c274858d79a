"""The BiLSTM tagger, and class probabilities per token from any tagger."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from engine.network.batches import Inputs, WordBatch, prediction_batches
from engine.network.recurrence import run_bidirectional
from engine.network.word_shapes import ALPHABET_SIZE, CASING_CLASSES

_BESIDE = 1  # characters that a filter sees on each side of the middle one
_CASINGS = len(CASING_CLASSES)
_HEAD_SIZE = 100
_PREDICTION_TOKENS = 8_000


class BiLstmTagger(nn.Module):
    """The paper's (L)BiLSTM: word vectors, character CNN, casing, lexicon bits, BiLSTM, MLP."""

    def __init__(
        self,
        *,
        classes: int,
        vector_size: int,
        bit_size: int,
        context_size: int = 0,
        character_size: int = 30,
        hidden_size: int = 200,
        dropout: float = 0.0,
        character_dropout: float = 0.0,
        bit_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self._bit_dropout = bit_dropout
        # Few distinct words are labeled. Hiding part of their characters keeps the tagger from
        # memorizing them; it has to learn from vectors, bits and context.
        self.character_dropout = nn.Dropout(character_dropout)
        self.character_embedding = nn.Embedding(ALPHABET_SIZE, character_size, padding_idx=0)
        self.character_filter = nn.Conv1d(
            character_size, character_size, 2 * _BESIDE + 1, padding=_BESIDE
        )
        self.dropout = nn.Dropout(dropout)
        self.lstm = nn.LSTM(
            vector_size + character_size + _CASINGS + bit_size + context_size,
            hidden_size,
            bidirectional=True,
        )
        self.head = nn.Sequential(
            nn.Linear(2 * hidden_size, _HEAD_SIZE), nn.ReLU(), nn.Linear(_HEAD_SIZE, classes)
        )

    def forward(self, batch: WordBatch) -> Tensor:
        """Return logits (tokens, classes), in the order of `batch.tokens`."""
        spelled = torch.cat([self._spell(characters) for characters in batch.characters])
        spelled = self.character_dropout(spelled)
        casing = nn.functional.one_hot(batch.casing, _CASINGS).float()
        bits = self._hide_some(batch.bits)
        parts = (
            batch.vectors[batch.word_of],
            spelled[batch.word_of],  # the only part that is learned
            torch.cat([casing[batch.word_of], bits, batch.context], dim=1),
        )
        kept = [self.dropout(part) for part in parts]
        hidden = run_bidirectional(self.lstm, kept, batch.batch_sizes)
        logits: Tensor = self.head(self.dropout(hidden))
        return logits

    def _hide_some(self, bits: Tensor) -> Tensor:
        # The bits of the dictionary that gave the labels equal the labels. Hiding some makes the
        # tagger learn from the word and its context too.
        if not self.training or self._bit_dropout == 0 or bits.shape[1] == 0:
            return bits
        return bits * (torch.rand(len(bits), 1, device=bits.device) >= self._bit_dropout)

    def _spell(self, characters: Tensor) -> Tensor:
        """Run the character CNN, once per distinct word: (words, longest) -> (words, size)."""
        embedded = self.character_dropout(self.character_embedding(characters))
        # One matrix product instead of a convolution. On a CPU, a convolution is set up again for
        # every new shape, which takes longer than to compute it, and every batch has its own shape.
        around = nn.functional.pad(embedded, (0, 0, _BESIDE, _BESIDE))
        longest = characters.shape[1]
        windows = torch.cat([around[:, i : i + longest] for i in range(2 * _BESIDE + 1)], dim=2)
        filters = self.character_filter.weight.transpose(1, 2).flatten(1)
        filtered = nn.functional.linear(windows, filters, self.character_filter.bias)
        # Padding depends on the other words of the batch, so it must not be the maximum.
        is_padding = characters == 0
        is_padding[:, 0] = False  # an empty word has only padding
        return filtered.masked_fill(is_padding.unsqueeze(2), -torch.inf).max(dim=1).values


def predict_probabilities(
    tagger: nn.Module,
    inputs: Inputs,
    *,
    only: npt.NDArray[np.int64] | None = None,
    activate: Callable[[Tensor, Tensor], Tensor] | None = None,
) -> npt.NDArray[np.float32]:
    """Return (tokens, classes) probabilities, in text order; zeros for sentences not in `only`.

    `activate` turns logits and their token numbers into probabilities; softmax if it is None.
    """
    tagger.eval()
    rows: npt.NDArray[np.float32] | None = None
    with torch.inference_mode():
        for indices in prediction_batches(inputs.bounds, _PREDICTION_TOKENS, only=only):
            batch = inputs.batch(indices)
            logits = tagger(batch)
            probs = activate(logits, batch.tokens) if activate else logits.softmax(dim=1)
            if rows is None:
                rows = np.zeros((int(inputs.bounds[-1]), probs.shape[1]), np.float32)
            rows[batch.tokens.cpu().numpy()] = probs.cpu().numpy()
    return rows if rows is not None else np.zeros((int(inputs.bounds[-1]), 1), np.float32)
