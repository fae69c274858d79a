"""Count strict precision and recall over a large text, with arrays instead of objects per span."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.labels import DistantLabels
from engine.scoring.metrics import Scores
from engine.text import Document, Entity, spans_from_entities

_Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class GoldPlaces:
    """Where the gold is, as tokens numbered over all documents."""

    first: _Numbers  # (entities,)
    stop: _Numbers
    type: _Numbers  # index into `types`
    types: tuple[str, ...]
    is_annotated: npt.NDArray[np.bool_]  # (sentences,): of a document that has gold


def gold_places(documents: Sequence[Document], gold: Mapping[str, Sequence[Entity]]) -> GoldPlaces:
    """Return the places of the gold, to score many labelings of the same text with it.

    Entities fit tokens as `spans_from_entities` says. Where some overlap, it decides itself.
    """
    text = _Text(documents)
    annotated = [(i, gold[d.id]) for i, d in enumerate(documents) if d.id in gold]
    is_annotated = np.zeros(len(documents), bool)
    is_annotated[[i for i, _ in annotated]] = True
    types = tuple(sorted({entity.entity_type for _, own in annotated for entity in own}))
    number = {name: i for i, name in enumerate(types)}
    rows = np.array(
        [(i, e.start, e.end, number[e.entity_type]) for i, own in annotated for e in own], np.int64
    ).reshape(-1, 4)
    places = np.column_stack([rows[:, 0], *text.covered(*rows[:, :3].T), rows[:, 3]])
    places = places[places[:, 1] < places[:, 2]]
    places = places[np.lexsort((places[:, 1], places[:, 0]))]
    is_same = places[1:, 0] == places[:-1, 0]
    disputed = np.unique(places[1:][is_same & (places[1:, 1] < places[:-1, 2]), 0])
    settled = [
        (first, stop, number[name])
        for i in disputed.tolist()
        for first, stop, name in text.fitted(i, gold[documents[i].id])
    ]
    places = np.concatenate(
        [
            places[~np.isin(places[:, 0], disputed), 1:],
            np.array(settled, np.int64).reshape(-1, 3),
        ]
    )
    first, stop, type_numbers = places.T
    of_sentence = np.repeat(is_annotated, text.sentence_counts)
    return GoldPlaces(first, stop, type_numbers, types, of_sentence)


def score_labels(gold: GoldPlaces, labels: DistantLabels) -> Scores:
    """Return the strict scores of the labels over all types, as `evaluate_spans` counts them."""
    kept = labels.kept
    kept = kept[gold.is_annotated[kept["sentence"].to_numpy()]]
    begin = labels.bounds[kept["sentence"].to_numpy()]
    first, stop = (begin + kept[name].to_numpy() for name in ("start", "end"))
    unknown = len(gold.types)
    number = {name: i for i, name in enumerate(gold.types)}
    types = np.array([unknown, *(number.get(name, unknown) for name in labels.types)], np.int64)
    longest = max(int((gold.stop - gold.first).max(initial=0)), int((stop - first).max(initial=0)))

    def keys(first: _Numbers, stop: _Numbers, type: _Numbers) -> _Numbers:
        return (first * (longest + 1) + stop - first) * (unknown + 1) + type

    ours = keys(first, stop, types[kept["type"].to_numpy()])
    correct = np.isin(ours, keys(gold.first, gold.stop, gold.type)).sum()
    return Scores(int(correct), len(kept), len(gold.first))


class _Text:
    """The places of all tokens, with one document's characters after the other's."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        tokens = [np.frombuffer(d.layout.tokens, np.intc) for d in documents]
        bounds = [np.frombuffer(d.layout.sentences, np.intc) for d in documents]
        self._before = _from_zero([d.token_count for d in documents])  # tokens
        # Entities may end after their text; a gap keeps them from the next one.
        self._shift = _from_zero([len(d.text) + 1 for d in documents])
        self.sentence_counts = np.array([len(own) - 1 for own in bounds], np.int64)
        # Starts and ends alternate and never fall, so half a position is the number of a token.
        self._places = _joined(tokens) + np.repeat(self._shift[:-1], [len(own) for own in tokens])
        sizes = _joined([np.diff(own) for own in bounds])
        self._bounds = _from_zero(sizes)

    def covered(self, document: _Numbers, start: _Numbers, end: _Numbers) -> tuple[_Numbers, ...]:
        """Return the first token that each entity touches, and the one after its last.

        It ends with its sentence.
        """
        shift = self._shift[document]
        first = np.searchsorted(self._places, start + shift, "right") // 2
        stop = (np.searchsorted(self._places, end + shift, "left") + 1) // 2
        stop = np.minimum(stop, self._before[document + 1])
        sentence = np.searchsorted(self._bounds, first, "right") - 1
        ends = np.append(self._bounds, self._bounds[-1])[sentence + 1]
        return first, np.minimum(stop, ends)

    def fitted(self, number: int, entities: Sequence[Entity]) -> Iterator[tuple[int, int, str]]:
        """Yield first token, the one after the last, and type of a document's entities."""
        document = self._documents[number]
        for i, spans in enumerate(spans_from_entities(document, entities).spans):
            begin = int(self._before[number]) + document.layout.sentences[i]
            for span in spans:
                yield begin + span.start, begin + span.end, span.entity_type


def _from_zero(sizes: Sequence[int] | _Numbers) -> _Numbers:
    """Return where each part begins, and the end of the last."""
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, np.int64))]).astype(np.int64)


def _joined(parts: Sequence[npt.NDArray[np.intc]]) -> _Numbers:
    return np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64)
