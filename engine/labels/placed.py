"""Find the phrases of dictionaries that match only at given places, such as opinions of others."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from engine.dictionaries import Dictionary, Phrase
from engine.text import Document

_Numbers = npt.NDArray[np.intc]


def find_placed(
    documents: Sequence[Document],
    dictionaries: Sequence[Dictionary],
    phrases: Sequence[Phrase],
    dictionary_of: Sequence[int],
) -> npt.NDArray[np.int32]:
    """Return sentence, start, end and phrase id where phrases stand that have places.

    A place whose words are no longer those of its phrase does not count: the text has changed.
    """
    wanted = [i for i, dictionary in enumerate(dictionaries) if dictionary.places is not None]
    rows: list[tuple[int, int, int, int]] = []
    if not wanted:
        return np.zeros((0, 4), np.int32)
    ids = {
        (dictionary_of[id], phrase.text, phrase.entity_type): id
        for id, phrase in enumerate(phrases)
        if dictionary_of[id] in wanted
    }
    first = 0  # number of the document's first sentence
    numbers = {}
    for document in documents:
        numbers[document.id] = document, first
        first += len(document.sentences)
    layouts = cache(_layout)
    for i in wanted:
        for place in dictionaries[i].places or ():
            id = ids.get((i, place.text, place.entity_type))
            if id is None or place.document not in numbers:
                continue
            document, first = numbers[place.document]
            if " ".join(document.text[place.start : place.end].split()) != place.text:
                continue
            starts, ends, sentences = layouts(document)
            begin = int(np.searchsorted(ends, place.start, side="right"))
            end = int(np.searchsorted(starts, place.end, side="left"))
            sentence = int(np.searchsorted(sentences, begin, side="right")) - 1
            edge, end = int(sentences[sentence]), min(end, int(sentences[sentence + 1]))
            rows.append((first + sentence, begin - edge, end - edge, id))
    return np.array(rows, np.int32).reshape(-1, 4)


def _layout(document: Document) -> tuple[_Numbers, _Numbers, _Numbers]:
    """Return where each token begins and ends, in characters, and where each sentence does."""
    tokens = np.frombuffer(document.layout.tokens, np.intc)
    return tokens[::2], tokens[1::2], np.frombuffer(document.layout.sentences, np.intc)
