"""More sentences to learn from: labeled ones again, with other phrases of the same type in them.

Few dictionary phrases occur in a text. The others can stand where those do, so that a tagger sees
more names in the same company and learns fewer of them by heart.
"""

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from engine.dictionaries import active_phrases, is_pattern
from engine.learning.training_data import TrainingData
from engine.network import sentence_bounds
from engine.text import words

_Phrase = tuple[str, ...]
_Value = TypeVar("_Value", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Exchanged:
    """Sentences to add, and the token of the corpus that each of their tokens stands for."""

    sentences: list[list[str]]
    origin: npt.NDArray[np.int64]  # (tokens of `sentences`,); of a new phrase, the one it replaces

    def extend(self, data: TrainingData) -> TrainingData:
        """Return the data with these sentences after its own."""
        negatives = data.known_negatives
        return replace(
            data,
            sentences=[*data.sentences, *self.sentences],
            labels=self.along(data.labels),
            known_negatives=None if negatives is None else self.along(negatives),
            context=None,
        )

    def along(self, values: npt.NDArray[_Value]) -> npt.NDArray[_Value]:
        """Return a value per token of the corpus, then one per token of the sentences to add."""
        return np.concatenate([values, values[self.origin]])


def exchange_mentions(data: TrainingData, copies: int, seed: int) -> Exchanged:
    """Return every sentence with a labeled mention, `copies` times, with other phrases in it.

    The phrases are those that are labeled and, with dictionaries, all of theirs.
    """
    bounds = sentence_bounds(data.sentences)
    mentions = _mentions(data.labels, bounds)
    phrases = _phrases(data, mentions, bounds)
    random = np.random.default_rng(seed)
    sentences: list[list[str]] = []
    origin: list[int] = []
    for _ in range(copies):
        for i, in_sentence in mentions.items():
            tokens, first = data.sentences[i], int(bounds[i])
            sentences.append([])
            done = first
            for start, end, type_number in in_sentence:
                chosen = phrases[type_number][random.integers(len(phrases[type_number]))]
                if start == first:
                    chosen = _at_the_beginning(chosen, tokens[0])
                sentences[-1] += [*tokens[done - first : start - first], *chosen]
                origin += [*range(done, start), *[start] * len(chosen)]
                done = end
            sentences[-1] += tokens[done - first :]
            origin += range(done, int(bounds[i + 1]))
    return Exchanged(sentences, np.array(origin, np.int64))


_Mentions = dict[int, list[tuple[int, int, int]]]  # sentence -> (start, end, class) over all tokens


def _mentions(labels: npt.NDArray[np.int16], bounds: npt.NDArray[np.int64]) -> _Mentions:
    """Return the maximal runs of one class, by sentence."""
    changes = np.flatnonzero(np.diff(labels)) + 1
    edges = np.unique(np.concatenate([[0, len(labels)], changes, bounds]))
    starts, ends = edges[:-1], edges[1:]
    is_labeled = labels[starts] > 0
    sentence_of = np.searchsorted(bounds, starts, side="right") - 1
    mentions: _Mentions = {}
    for i, start, end in zip(
        sentence_of[is_labeled].tolist(),
        starts[is_labeled].tolist(),
        ends[is_labeled].tolist(),
        strict=True,
    ):
        mentions.setdefault(i, []).append((start, end, int(labels[start])))
    return mentions


def _phrases(
    data: TrainingData, mentions: _Mentions, bounds: npt.NDArray[np.int64]
) -> dict[int, list[_Phrase]]:
    """Return the phrases of each class, at least those that are labeled, each once."""
    by_class: dict[int, dict[_Phrase, None]] = {i + 1: {} for i in range(len(data.types))}
    for i, in_sentence in mentions.items():
        for start, end, type_number in in_sentence:
            first = int(bounds[i])
            by_class[type_number][tuple(data.sentences[i][start - first : end - first])] = None
    if data.lexicon is not None:
        number_of = {name: i for i, name in enumerate(data.types, start=1)}
        for dictionary in data.lexicon.dictionaries:
            for phrase in active_phrases(dictionary):
                if is_pattern(phrase.text):
                    continue
                tokens = _split(phrase.text, tokens_given=data.lexicon.tokens_given)
                if tokens and phrase.entity_type in number_of:
                    by_class[number_of[phrase.entity_type]][tokens] = None
    return {number: list(phrases) for number, phrases in by_class.items()}


def _split(phrase: str, *, tokens_given: bool) -> _Phrase:
    return tuple(phrase.split()) if tokens_given else tuple(words(phrase))


def _at_the_beginning(phrase: _Phrase, replaced: str) -> _Phrase:
    """Return the phrase with a capital if the sentence began with one."""
    if not replaced[:1].isupper():
        return phrase
    return (phrase[0][:1].upper() + phrase[0][1:], *phrase[1:])
