"""Tokens become what a tagger sees: word vectors, characters, casing, lexicon bits, context."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from engine.batches import WordInputs, sentence_bounds
from engine.dictionary import Dictionary, Phrase
from engine.encoders import load_encoder, longest_window
from engine.lexicon import lexicon_bits
from engine.settings import MatchOptions, Settings
from engine.subwords import SubwordBatch, SubwordInputs
from engine.text import InputError
from engine.transformer import (
    Features,
    cached_features,
    contextual_features,
    features_key,
    keep_features,
)
from engine.vectors import VectorTable, open_vectors
from engine.word_shapes import casing_classes, character_ids

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    Encoder = tuple[PreTrainedModel, PreTrainedTokenizerFast]

Tokens = Sequence[Sequence[str]]
_SPECIAL_SUBWORDS = 4  # more than any tokenizer puts around a window


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Dictionaries that tokens are looked up in, apart from the labels they may have given."""

    dictionaries: tuple[Dictionary, ...]
    options: MatchOptions
    types: tuple[str, ...]
    tokens_given: bool


def lexicon_record(lexicon: Lexicon | None) -> dict[str, Any] | None:
    """Return a lexicon as it is saved, without the dictionaries that are switched off."""
    if lexicon is None:
        return None
    return {
        "options": asdict(lexicon.options),
        "types": list(lexicon.types),
        "tokens_given": lexicon.tokens_given,
        "dictionaries": [
            {
                "name": dictionary.name,
                "match": asdict(dictionary.match) if dictionary.match else None,
                "phrases": [[phrase.text, phrase.entity_type] for phrase in dictionary.phrases],
                "muted": sorted(dictionary.muted),
            }
            for dictionary in lexicon.dictionaries
            if dictionary.is_enabled
        ],
    }


def lexicon_from(record: dict[str, Any] | None) -> Lexicon | None:
    """Return a lexicon that was saved."""
    if record is None:
        return None
    dictionaries = tuple(
        Dictionary(
            of["name"],
            tuple(Phrase(text, entity_type) for text, entity_type in of["phrases"]),
            match=MatchOptions(**of["match"]) if of["match"] else None,
            muted=frozenset((text, entity_type) for text, entity_type in of["muted"]),
        )
        for of in record["dictionaries"]
    )
    return Lexicon(
        dictionaries,
        MatchOptions(**record["options"]),
        tuple(record["types"]),
        record["tokens_given"],
    )


class Pretrained:
    """What others have learned and inputs are made with, opened once to be used many times.

    The encoder is opened when it is asked for: a training whose features are kept needs none.
    """

    def __init__(
        self, vectors: VectorTable, open_encoder: "Callable[[], Encoder] | None" = None
    ) -> None:
        self.vectors = vectors
        self._open_encoder = open_encoder
        self._encoder: Encoder | None = None

    @property
    def encoder(self) -> "Encoder":
        """The transformer and its tokenizer."""
        assert self._open_encoder is not None, "these settings name no encoder"
        if self._encoder is None:
            self._encoder = self._open_encoder()
        return self._encoder


def has_context(settings: Settings) -> bool:
    """Return whether the network sees a hidden layer of a frozen transformer."""
    return settings.encoder == "bilstm" and settings.contextual_layer > 0


def has_encoder(settings: Settings) -> bool:
    """Return whether a transformer is part of the network, fine-tuned or frozen."""
    return settings.encoder == "transformer" or has_context(settings)


def open_pretrained(settings: Settings) -> Pretrained:
    """Return the word vectors and the encoder that the settings name."""
    return Pretrained(open_vectors(vectors_of(settings)), _opening(settings))


def _encoder_alone(settings: Settings) -> Pretrained:
    return Pretrained(open_vectors("none"), _opening(settings))


def _opening(settings: Settings) -> "Callable[[], Encoder] | None":
    name = settings.encoder_name
    return (lambda: load_encoder(name)) if has_encoder(settings) else None


def vectors_of(settings: Settings) -> str:
    """Return the name of the word vectors that the network sees; a transformer sees none."""
    return settings.word_vectors if settings.encoder == "bilstm" else "none"


def make_word_inputs(
    sentences: Tokens,
    lexicon: Lexicon | None,
    settings: Settings,
    device: torch.device,
    *,
    pretrained: Pretrained,
    context: Features | None = None,
) -> WordInputs:
    """Return all that a BiLSTM sees of the sentences; `context` is what `context_of` returns."""
    words, word_ids = distinct_words(sentences)
    return WordInputs(
        sentences,
        pretrained.vectors.of(words).matrix,
        character_ids(words)[0],
        casing_classes(words),
        word_ids=word_ids,
        bits=_lexicon_extras(sentences, lexicon, settings),
        context=context,
        device=device,
    )


class EncodedInputs:
    """All that a transformer sees of a corpus: sub-words, in windows."""

    def __init__(
        self, sentences: Tokens, settings: Settings, device: torch.device, pretrained: Pretrained
    ) -> None:
        self.encoder, _ = pretrained.encoder
        self.device = device
        self.bounds = sentence_bounds(sentences)
        self._subwords = _subwords(sentences, settings, pretrained)

    def batch(self, sentence_indices: npt.NDArray[np.int64]) -> SubwordBatch:
        """Return the windows of the sentences, on the device."""
        return self._subwords.batch(sentence_indices).to(self.device)


def _subwords(sentences: Tokens, settings: Settings, pretrained: Pretrained) -> SubwordInputs:
    """The sentences in windows that are no longer than the encoder can read."""
    encoder, tokenizer = pretrained.encoder
    window = min(settings.encoder_window, longest_window(encoder, tokenizer))
    try:
        return SubwordInputs(sentences, tokenizer, window=window, stride=settings.encoder_stride)
    except ValueError as error:
        raise InputError(f"encoder_window and encoder_stride do not fit: {error}") from None


def count_cut_tokens(
    sentences: Tokens, settings: Settings, pretrained: Pretrained | None = None
) -> int:
    """Return how many tokens are longer than a window: the encoder reads their beginning only."""
    if not has_encoder(settings):
        return 0
    # No token has more sub-words than bytes, so that most texts need not be encoded for this.
    room = settings.encoder_window - _SPECIAL_SUBWORDS
    if all(len(token) * 4 <= room or len(token.encode("utf-8", "replace")) <= room
           for tokens in sentences for token in tokens):  # fmt: skip
        return 0
    return _subwords(sentences, settings, pretrained or _encoder_alone(settings)).cut_tokens


def cut_notes(count: int) -> list[str]:
    """Return what a person should know about tokens that the encoder reads in part."""
    if not count:
        return []
    are = "1 token is" if count == 1 else f"{count:,} tokens are"
    return [f"{are} too long for the encoder to read at once; it reads the beginning only"]


def distinct_words(sentences: Tokens) -> tuple[list[str], npt.NDArray[np.int32]]:
    """Return the distinct tokens, and for each token of all sentences which one it is."""
    number: dict[str, int] = {}
    ids = [number.setdefault(token, len(number)) for tokens in sentences for token in tokens]
    return list(number), np.array(ids, dtype=np.int32)


def context_of(
    sentences: Tokens,
    settings: Settings,
    device: torch.device,
    pretrained: Pretrained,
    *,
    cache: Path | None = None,
) -> Features | None:
    """Return a hidden layer of the frozen transformer, a row a token; None when not asked for.

    With `cache`, a folder, it is computed once for a corpus.
    """
    if not has_context(settings):
        return None
    context = _Context(sentences, settings, device, pretrained)
    if cache is None:
        return context.compute()
    return cached_features(cache, context.key, context.compute)


def keep_context(
    sentences: Tokens,
    settings: Settings,
    device: torch.device,
    cache: Path,
    *,
    on_share: Callable[[float], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Path | None:
    """Return the file in `cache` with the contextual features of the sentences; None without any.

    Runs that train side by side are given it, where each would compute them all. Raises Stopped
    when `should_stop` says so.
    """
    if not has_context(settings):
        return None
    pretrained = _encoder_alone(settings)
    context = _Context(sentences, settings, device, pretrained)
    return keep_features(cache, context.key, lambda: context.compute(on_share, should_stop))


class _Context:
    """What a frozen transformer is to look at."""

    def __init__(
        self, sentences: Tokens, settings: Settings, device: torch.device, pretrained: Pretrained
    ) -> None:
        self._encoder, _ = pretrained.encoder
        self._layer, self._device = settings.contextual_layer, device
        last = self._encoder.config.num_hidden_layers
        if self._layer > last:
            raise InputError(
                f"contextual_layer is {self._layer}, and {settings.encoder_name} has {last} "
                "layers. Choose one of them, or 0 for none"
            )
        self._inputs = _subwords(sentences, settings, pretrained)

    @property
    def key(self) -> str:
        return features_key(self._inputs, self._encoder, self._layer)

    def compute(
        self,
        on_share: Callable[[float], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> Features:
        return contextual_features(
            self._inputs,
            self._encoder,
            layer=self._layer,
            device=self._device,
            on_share=on_share,
            should_stop=should_stop,
        )


def _lexicon_extras(
    sentences: Tokens, lexicon: Lexicon | None, settings: Settings
) -> npt.NDArray[np.bool_] | None:
    if lexicon is None or settings.lexicon_window == 0:
        return None
    return lexicon_bits(
        sentences,
        lexicon.dictionaries,
        lexicon.options,
        types=lexicon.types,
        window=settings.lexicon_window,
        tokens_given=lexicon.tokens_given,
    )
