"""Filter documents and entities by type, score and document id."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.text import Corpus, Document, EntitiesByDocument, Entity


@dataclass(frozen=True, slots=True)
class Selection:
    """Which documents and entities to keep; by default all of them."""

    types: tuple[str, ...] = ()  # none = all
    least_score: float = 0.0  # entities without a score stay
    words: str = ""  # part of the document's id, in any letter case


def select(
    documents: Sequence[Document],
    entities: EntitiesByDocument,
    selection: Selection,
    *,
    only_annotated: bool = False,
) -> Corpus:
    """Return the documents and entities that pass the filters, without entities beyond the text.

    With `only_annotated`, documents that `entities` does not mention get no entry in the result:
    that nobody annotated a document does not mean that it holds no entities.
    """
    words = selection.words.casefold()
    wanted = tuple(document for document in documents if words in document.id.casefold())
    kept = {
        document.id: tuple(
            entity
            for entity in entities.get(document.id, ())
            if is_wanted(entity, selection) and entity.end <= len(document.text)
        )
        for document in wanted
        if document.id in entities or not only_annotated
    }
    return Corpus(wanted, kept)


def is_wanted(entity: Entity, selection: Selection) -> bool:
    """Return whether an entity passes the filters for type and score."""
    if selection.types and entity.entity_type not in selection.types:
        return False
    return entity.score is None or entity.score >= selection.least_score
