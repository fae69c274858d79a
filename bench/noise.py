"""Spoil a dictionary as real ones are spoiled: everyday words as names, phrases of a wrong type."""

from collections.abc import Sequence

import numpy as np

from engine.dictionaries import Dictionary, Phrase
from engine.network import frequent_words

_EVERYDAY = 2_000  # most frequent words of general English, those of Glossa's word vectors


def spoil(
    dictionaries: Sequence[Dictionary],
    sentences: Sequence[Sequence[str]],
    share: float,
    seed: int = 0,
) -> list[Dictionary]:
    """Return the dictionaries with everyday words added, and as many phrases under a wrong type.

    Each kind is `share` of all phrases. Everyday words are drawn from those that the text has.
    """
    random = np.random.default_rng(seed)
    types = [dictionary.types[0] for dictionary in dictionaries]
    count = round(share * sum(len(dictionary.phrases) for dictionary in dictionaries))
    in_text = {token.casefold() for tokens in sentences for token in tokens}
    everyday = [w for w in frequent_words(_EVERYDAY) if w.isalpha() and len(w) > 1 and w in in_text]
    added = random.choice(everyday, min(count, len(everyday)), replace=False).tolist()
    phrases: dict[str, list[Phrase]] = {name: [] for name in types}
    listed = [phrase for dictionary in dictionaries for phrase in dictionary.phrases]
    is_moved = np.zeros(len(listed), bool)
    is_moved[random.choice(len(listed), count, replace=False)] = True
    for phrase, moves in zip(listed, is_moved, strict=True):
        name = phrase.entity_type
        if moves:
            name = random.choice([other for other in types if other != name])
        phrases[name].append(Phrase(phrase.text, name))
    for word in added:
        name = random.choice(types)
        phrases[name].append(Phrase(word, name))
    return [Dictionary(name, tuple(of_type)) for name, of_type in phrases.items()]
