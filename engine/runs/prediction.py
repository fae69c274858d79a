"""Predict texts as they are read, and count the tokens that the encoder reads only in part."""

from collections.abc import Iterable, Iterator, Sequence

from engine.experiment import Run, predict
from engine.learning import groups, tokens_of
from engine.network import count_cut_tokens, cut_notes
from engine.text import Document, Entity


class CutTokens:
    """Counts the tokens that are too long for a run's encoder, some documents at a time."""

    def __init__(self, trained: Run) -> None:
        self._trained, self._count = trained, 0

    def add(self, documents: Sequence[Document]) -> None:
        """Count those of more documents."""
        trained = self._trained
        self._count += count_cut_tokens(tokens_of(documents), trained.settings, trained.pretrained)

    @property
    def notes(self) -> list[str]:
        return cut_notes(self._count)


def predict_stream(
    trained: Run, documents: Iterable[Document], run_id: str, cut: CutTokens
) -> Iterator[tuple[Document, tuple[Entity, ...]]]:
    """Yield each document with the entities that the run finds in it; hold a few at a time."""
    for group in groups(documents):
        cut.add(group)
        entities = predict(trained, group, run_id)
        for document in group:
            yield document, entities[document.id]
