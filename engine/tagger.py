"""The network: words and characters become a probability for each class of each token."""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from engine.batches import Inputs, WordBatch, prediction_batches
from engine.recurrence import run_bidirectional
from engine.word_shapes import ALPHABET_SIZE, CASING_CLASSES

_CHARACTER_WINDOW = 3
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
        dropout: float = 0.5,
        bit_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self._bit_dropout = bit_dropout
        self.character_embedding = nn.Embedding(ALPHABET_SIZE, character_size, padding_idx=0)
        self.character_filter = nn.Conv1d(
            character_size, character_size, _CHARACTER_WINDOW, padding=_CHARACTER_WINDOW // 2
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
        casing = nn.functional.one_hot(batch.casing, _CASINGS).float()
        words = torch.cat([batch.vectors, self._spell(batch.characters), casing], dim=1)
        bits = self._hide_some(batch.bits)
        tokens = torch.cat([words[batch.word_of], bits, batch.context], dim=1)
        hidden = run_bidirectional(self.lstm, self.dropout(tokens), batch.batch_sizes)
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
        embedded = self.dropout(self.character_embedding(characters))
        filtered: Tensor = self.character_filter(embedded.transpose(1, 2))
        # How far a word is padded depends on the rest of the batch; padding must not win.
        is_padding = characters == 0
        is_padding[:, 0] = False  # all that an empty word has
        return filtered.masked_fill(is_padding.unsqueeze(1), -torch.inf).max(dim=2).values


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
