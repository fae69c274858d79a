"""Find the phrases of dictionaries that match only at given places, such as opinions of others."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from engine.dictionaries import Dictionary, Phrase
from engine.text import Document, Entity, spans_from_entities


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
        numbers[document.id] = first
        first += len(document.sentences)
    by_id = {document.id: document for document in documents}
    for i in wanted:
        for place in dictionaries[i].places or ():
            id = ids.get((i, place.text, place.entity_type))
            if id is None or place.document not in by_id:
                continue
            text = by_id[place.document]
            if " ".join(text.text[place.start : place.end].split()) != place.text:
                continue
            entity = Entity(place.start, place.end, place.entity_type)
            for number, spans in enumerate(spans_from_entities(text, [entity]).spans):
                rows += [(numbers[text.id] + number, s.start, s.end, id) for s in spans]
    return np.array(rows, np.int32).reshape(-1, 4)
