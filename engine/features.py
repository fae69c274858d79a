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
from engine.transformer import Features, Stopped, cached_features, contextual_features, features_key
from engine.vectors import VectorTable, open_vectors
from engine.word_shapes import casing_classes, character_ids

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

Tokens = Sequence[Sequence[str]]


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


@dataclass(frozen=True, slots=True, eq=False)
class Pretrained:
    """What others have learned and inputs are made with, opened once to be used many times."""

    vectors: VectorTable
    encoder: "tuple[PreTrainedModel, PreTrainedTokenizerFast] | None" = None


def has_context(settings: Settings) -> bool:
    """Return whether the network sees a hidden layer of a frozen transformer."""
    return settings.encoder == "bilstm" and settings.contextual_layer > 0


def has_encoder(settings: Settings) -> bool:
    """Return whether a transformer is part of the network, fine-tuned or frozen."""
    return settings.encoder == "transformer" or has_context(settings)


def open_pretrained(settings: Settings) -> Pretrained:
    """Return the word vectors and the encoder that the settings name."""
    return Pretrained(
        open_vectors(vectors_of(settings)),
        load_encoder(settings.encoder_name) if has_encoder(settings) else None,
    )


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
        assert pretrained.encoder is not None
        encoder, tokenizer = pretrained.encoder
        self.encoder = encoder
        self.device = device
        self.bounds = sentence_bounds(sentences)
        self._subwords = SubwordInputs(
            sentences,
            tokenizer,
            window=min(settings.encoder_window, longest_window(encoder, tokenizer)),
            stride=settings.encoder_stride,
        )
        self.cut_tokens = self._subwords.cut_tokens

    def batch(self, sentence_indices: npt.NDArray[np.int64]) -> SubwordBatch:
        """Return the windows of the sentences, on the device."""
        return self._subwords.batch(sentence_indices).to(self.device)


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
    on_share: Callable[[float], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Features | None:
    """Return a hidden layer of the frozen transformer, a row a token; None when not asked for.

    With `cache`, a folder, it is computed once for a corpus. Raises Stopped when stopped.
    """
    if not has_context(settings):
        return None
    assert pretrained.encoder is not None
    encoder, tokenizer = pretrained.encoder
    layer, last = settings.contextual_layer, encoder.config.num_hidden_layers
    if layer > last:
        raise InputError(
            f"contextual_layer is {layer}, and {settings.encoder_name} has {last} layers. Choose "
            "one of them, or 0 for none"
        )
    window = min(settings.encoder_window, longest_window(encoder, tokenizer))
    inputs = SubwordInputs(sentences, tokenizer, window=window, stride=settings.encoder_stride)

    def compute() -> Features:
        return contextual_features(
            inputs, encoder, layer=layer, device=device, on_share=on_share, should_stop=should_stop
        )

    if cache is None:
        return compute()
    return cached_features(cache, features_key(inputs, encoder, layer), compute)


def keep_context(
    sentences: Tokens,
    settings: Settings,
    device: torch.device,
    cache: Path,
    *,
    on_share: Callable[[float], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> bool:
    """Leave the contextual features of the sentences in `cache`; False when stopped on the way.

    Runs that train side by side find them there, where each would compute them all.
    """
    if not has_context(settings):
        return True
    pretrained = Pretrained(open_vectors("none"), load_encoder(settings.encoder_name))
    try:
        context_of(
            sentences, settings, device, pretrained,
            cache=cache, on_share=on_share, should_stop=should_stop,
        )  # fmt: skip
    except Stopped:
        return False
    return True


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
