"""Open the pretrained parts of a network: word vectors and a transformer with its windows."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import torch

from engine.network.encoders import MINILM, load_encoder, longest_window
from engine.network.minilm import open_plain_minilm
from engine.network.subwords import SubwordInputs
from engine.network.vectors import VectorTable, open_vectors
from engine.settings import Settings
from engine.text import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    Encoder = tuple[PreTrainedModel, PreTrainedTokenizerFast]

Tokens = Sequence[Sequence[str]]

_SPECIAL_SUBWORDS = 4  # more than any tokenizer puts around a window
_SHORTEST_WINDOW = 64  # sub-words that any encoder reads at once


class Pretrained:
    """Word vectors and an encoder, opened once and used many times.

    The encoder is loaded at first use: a training whose features are cached does not need it.
    """

    def __init__(
        self,
        vectors: VectorTable,
        open_encoder: "Callable[[], Encoder] | None" = None,
        *,
        is_minilm: bool = False,
    ) -> None:
        """Keep what opens an encoder; `is_minilm` says that it is the built-in one."""
        self.vectors = vectors
        self._open_encoder = open_encoder
        self._is_minilm = is_minilm
        self._encoder: Encoder | None = None

    @property
    def encoder(self) -> "Encoder":
        """The transformer and its tokenizer."""
        assert self._open_encoder is not None, "these settings name no encoder"
        if self._encoder is None:
            self._encoder = self._open_encoder()
        return self._encoder

    def frozen_encoder(self, device: torch.device) -> "Encoder":
        """The transformer and its tokenizer, for features only.

        On a CPU, MiniLM comes without the library transformers, which takes seconds to import.
        """
        if self._is_minilm and device.type == "cpu" and self._encoder is None:
            return cast("Encoder", open_plain_minilm())
        return self.encoder


def has_context(settings: Settings) -> bool:
    """Return whether the network sees a hidden layer of a frozen transformer."""
    return settings.encoder == "bilstm" and settings.contextual_layer > 0


def has_encoder(settings: Settings) -> bool:
    """Return whether a transformer is part of the network, fine-tuned or frozen."""
    return settings.encoder == "transformer" or has_context(settings)


def open_pretrained(settings: Settings) -> Pretrained:
    """Return the word vectors and the encoder that the settings name."""
    vectors = open_vectors(vectors_of(settings))
    return Pretrained(vectors, _opening(settings), is_minilm=settings.encoder_name == MINILM)


def encoder_alone(settings: Settings) -> Pretrained:
    """Return the encoder without the word vectors, which take a second to open."""
    is_minilm = settings.encoder_name == MINILM
    return Pretrained(open_vectors("none"), _opening(settings), is_minilm=is_minilm)


def _opening(settings: Settings) -> "Callable[[], Encoder] | None":
    name = settings.encoder_name
    return (lambda: load_encoder(name)) if has_encoder(settings) else None


def vectors_of(settings: Settings) -> str:
    """Return the name of the word vectors that the network uses; a transformer uses none."""
    return settings.word_vectors if settings.encoder == "bilstm" else "none"


def windows_of(sentences: Tokens, settings: Settings, encoder: "Encoder") -> SubwordInputs:
    """Return the sentences in windows no longer than the encoder can read."""
    _, tokenizer = encoder
    window = window_of(settings, encoder)
    try:
        return SubwordInputs(sentences, tokenizer, window=window, stride=settings.encoder_stride)
    except ValueError as error:
        raise InputError(f"encoder_window and encoder_stride do not fit: {error}") from None


def window_of(settings: Settings, encoder: "Encoder") -> int:
    """Return how many sub-words, special ones included, a window has at most."""
    return min(settings.encoder_window, longest_window(*encoder))


def count_cut_tokens(
    sentences: Tokens, settings: Settings, pretrained: Pretrained | None = None
) -> int:
    """Return how many tokens are longer than a window; the encoder reads only their beginning."""
    if not has_encoder(settings):
        return 0
    # No token has more sub-words than bytes, so most texts need not be encoded for this.
    room = min(settings.encoder_window, _SHORTEST_WINDOW) - _SPECIAL_SUBWORDS
    if all(len(token) * 4 <= room or len(token.encode("utf-8", "replace")) <= room
           for tokens in sentences for token in tokens):  # fmt: skip
        return 0
    pretrained = pretrained or encoder_alone(settings)
    encoder = pretrained.frozen_encoder(torch.device("cpu"))
    return windows_of(sentences, settings, encoder).cut_tokens


def cut_notes(count: int) -> list[str]:
    """Return a note for the user about tokens that the encoder reads only in part."""
    if not count:
        return []
    are = "1 token is" if count == 1 else f"{count:,} tokens are"
    return [f"{are} too long for the encoder to read at once; it reads the beginning only"]
