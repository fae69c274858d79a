"""Build the inputs of a tagger: word vectors, characters, casing, lexicon bits and context."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from engine.dictionaries import Dictionary, Phrase
from engine.network.batches import WordInputs, sentence_bounds
from engine.network.lexicon import lexicon_bits
from engine.network.pretrained import Pretrained, Tokens, windows_of
from engine.network.subwords import SubwordBatch
from engine.network.transformer import Features
from engine.network.word_shapes import casing_classes, character_ids
from engine.settings import MatchOptions, Settings


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Dictionaries whose matches are inputs of the tagger, whether or not they gave the labels."""

    dictionaries: tuple[Dictionary, ...]
    options: MatchOptions
    types: tuple[str, ...]
    tokens_given: bool
    folding: frozenset[str] = frozenset()  # what the adaptive options decided: see `Matcher`


def lexicon_record(lexicon: Lexicon | None) -> dict[str, Any] | None:
    """Return a lexicon as JSON values, without dictionaries that are switched off."""
    if lexicon is None:
        return None
    decided = {"folding": sorted(lexicon.folding)} if lexicon.folding else {}
    return decided | {
        "options": lexicon.options.record(),
        "types": list(lexicon.types),
        "tokens_given": lexicon.tokens_given,
        "dictionaries": [
            {
                "name": dictionary.name,
                "match": dictionary.match.record() if dictionary.match else None,
                "phrases": [[phrase.text, phrase.entity_type] for phrase in dictionary.phrases],
                "muted": sorted(dictionary.muted),
                "as_written": sorted(dictionary.as_written),
            }
            for dictionary in lexicon.dictionaries
            if dictionary.is_enabled
        ],
    }


def lexicon_from(record: dict[str, Any] | None) -> Lexicon | None:
    """Return the lexicon of such a record."""
    if record is None:
        return None
    dictionaries = tuple(
        Dictionary(
            item["name"],
            tuple(Phrase(text, entity_type) for text, entity_type in item["phrases"]),
            match=MatchOptions(**item["match"]) if item["match"] else None,
            muted=frozenset((text, entity_type) for text, entity_type in item["muted"]),
            as_written=frozenset((text, name) for text, name in item.get("as_written", ())),
        )
        for item in record["dictionaries"]
    )
    return Lexicon(
        dictionaries,
        MatchOptions(**record["options"]),
        tuple(record["types"]),
        record["tokens_given"],
        frozenset(record.get("folding", ())),
    )


def make_word_inputs(
    sentences: Tokens,
    lexicon: Lexicon | None,
    settings: Settings,
    device: torch.device,
    *,
    pretrained: Pretrained,
    context: Features | None = None,
) -> WordInputs:
    """Return the inputs of a BiLSTM; `context` comes from `context_of`."""
    words, word_ids = distinct_words(sentences)
    return WordInputs(
        sentences,
        pretrained.vectors.vectors_of(words).matrix,
        character_ids(words)[0],
        casing_classes(words),
        word_ids=word_ids,
        bits=_lexicon_extras(sentences, lexicon, settings),
        context=context,
        device=device,
    )


class EncodedInputs:
    """The inputs of a transformer: sub-words in windows."""

    def __init__(
        self, sentences: Tokens, settings: Settings, device: torch.device, pretrained: Pretrained
    ) -> None:
        self.encoder, _ = pretrained.encoder
        self.device = device
        self.bounds = sentence_bounds(sentences)
        self._subwords = windows_of(sentences, settings, pretrained.encoder)

    def batch(self, sentence_indices: npt.NDArray[np.int64]) -> SubwordBatch:
        """Return the windows of these sentences, on the device."""
        return self._subwords.batch(sentence_indices).to(self.device)


def distinct_words(sentences: Tokens) -> tuple[list[str], npt.NDArray[np.int32]]:
    """Return the distinct tokens, and for every token the index of its distinct one."""
    number: dict[str, int] = {}
    ids = [number.setdefault(token, len(number)) for tokens in sentences for token in tokens]
    return list(number), np.array(ids, dtype=np.int32)


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
        folding=lexicon.folding,
    )
