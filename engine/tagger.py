"""The network: words and characters become a probability for each class of each token."""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from engine.batches import Inputs, WordBatch, prediction_batches
from engine.recurrence import run_bidirectional
from engine.word_shapes import ALPHABET_SIZE, CASING_CLASSES

_BESIDE = 1  # characters that a filter sees on either side of one
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
        # Few distinct words are labeled: with their spelling now and then in the dark, they are not
        # learned by heart, and vectors, bits and context have to tell what an entity is.
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
            spelled[batch.word_of],  # alone learned
            torch.cat([casing[batch.word_of], bits, batch.context], dim=1),
        )
        seen = [self.dropout(part) for part in parts]
        hidden = run_bidirectional(self.lstm, seen, batch.batch_sizes)
        logits: Tensor = self.head(self.dropout(hidden))
        return logits

    def _hide_some(self, bits: Tensor) -> Tensor:
        # Lexicon bits of the labeling dictionary equal the label: hidden now and then, they leave
        # the tagger to learn the word and its context too.
        if not self.training or self._bit_dropout == 0 or bits.shape[1] == 0:
            return bits
        return bits * (torch.rand(len(bits), 1, device=bits.device) >= self._bit_dropout)

    def _spell(self, characters: Tensor) -> Tensor:
        """Character CNN, once per distinct word: (words, longest) -> (words, character_size)."""
        embedded = self.character_dropout(self.character_embedding(characters))
        # One matrix product. A convolution would be prepared anew for every batch, whose shape no
        # other batch has, and on a CPU that takes longer than the convolution itself.
        around = nn.functional.pad(embedded, (0, 0, _BESIDE, _BESIDE))
        longest = characters.shape[1]
        windows = torch.cat([around[:, i : i + longest] for i in range(2 * _BESIDE + 1)], dim=2)
        filters = self.character_filter.weight.transpose(1, 2).flatten(1)
        filtered = nn.functional.linear(windows, filters, self.character_filter.bias)
        # How far a word is padded depends on the rest of the batch; padding must not win.
        is_padding = characters == 0
        is_padding[:, 0] = False  # all that an empty word has
        return filtered.masked_fill(is_padding.unsqueeze(2), -torch.inf).max(dim=1).values


def predict_probabilities(
    tagger: nn.Module, inputs: Inputs, *, only: npt.NDArray[np.int64] | None = None
) -> npt.NDArray[np.float32]:
    """Return (tokens, classes) probabilities, in order; zeros for sentences not in `only`."""
    tagger.eval()
    rows: npt.NDArray[np.float32] | None = None
    with torch.inference_mode():
        for indices in prediction_batches(inputs.bounds, _PREDICTION_TOKENS, only=only):
            batch = inputs.batch(indices)
            probs = tagger(batch).softmax(dim=1).cpu().numpy()
            if rows is None:
                rows = np.zeros((int(inputs.bounds[-1]), probs.shape[1]), np.float32)
            rows[batch.tokens.cpu().numpy()] = probs
    return rows if rows is not None else np.zeros((int(inputs.bounds[-1]), 1), np.float32)
