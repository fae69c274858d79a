"""All entities of a set become those that a person wants to take along."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.text import Corpus, Document, EntitiesByDocument, Entity


@dataclass(frozen=True, slots=True)
class Selection:
    """Which documents and entities are wanted; all, unless something is said."""

    types: tuple[str, ...] = ()  # none = all
    least_score: float = 0.0  # entities without a score stay
    words: str = ""  # in the document's id, in any case


def select(
    documents: Sequence[Document],
    entities: EntitiesByDocument,
    selection: Selection,
    *,
    only_annotated: bool = False,
) -> Corpus:
    """Return the wanted documents with their wanted entities, those beyond the text left out.

    With `only_annotated`, a document that `entities` does not name stays without a word about it:
    gold says nothing of it, which is not the same as that there is nothing in it.
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
    """Return whether type and score are as wanted."""
    if selection.types and entity.entity_type not in selection.types:
        return False
    return entity.score is None or entity.score >= selection.least_score
