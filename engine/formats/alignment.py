"""Transfer the annotations of one file to the documents of another file with the same text."""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.text import Corpus, Document, Entity, InputError, one_line

_HUMAN = frozenset(("gold", "review", ""))


@dataclass(frozen=True, slots=True)
class Aligned:
    """Entities by document id, with offsets into those documents, and what could not be placed."""

    entities: Mapping[str, tuple[Entity, ...]]
    notes: tuple[str, ...] = ()


def gold_of(corpus: Corpus) -> Corpus:
    """Return the corpus with human labels only; if it has none, no document is annotated.

    An entity without a method counts as human.
    """
    methods = {entity.method for entities in corpus.entities.values() for entity in entities}
    if methods and not methods & _HUMAN:
        return replace(corpus, entities={})
    kept = {
        id: tuple(entity for entity in entities if entity.method in _HUMAN)
        for id, entities in corpus.entities.items()
    }
    return replace(corpus, entities=kept)


def align(documents: Sequence[Document], annotated: Corpus, *, what: str = "gold") -> Aligned:
    """Return the entities of `annotated` at their places in `documents`; messages name `what`.

    A file without text (entities CSV) is matched by document id. With text, a document is matched
    by id, else by its letters. White space may differ, so tokenized gold fits raw text.
    """
    if not annotated.entities:
        raise InputError(
            f"{_names(annotated)} holds no annotations. "
            f"{what.capitalize()} can be CoNLL, JSONL with spans, PubTator, brat or an entities CSV"
        )
    targets = _targets(documents, annotated)
    sources = {document.id: document for document in annotated.documents}
    entities: dict[str, tuple[Entity, ...]] = {}
    unknown: list[str] = []
    for id, given in annotated.entities.items():
        source, target = sources.get(id), targets.get(id)
        if target is None:
            unknown.append(id)
        elif source is None or source.text == target.text:
            entities[target.id] = _checked(target, given, annotated)
        else:
            entities[target.id] = _moved(source, target, _checked(source, given, annotated))
    if not entities:
        raise InputError(
            f"{_names(annotated)} annotates none of these documents: neither an id nor a text is "
            f'the same (its first document is "{unknown[0]}", the first here is '
            f'"{documents[0].id if documents else "none"}"). Give {what} for the same documents'
        )
    if not unknown:
        return Aligned(entities)
    note = f'{len(unknown):,} annotated documents are not among these texts, e.g. "{unknown[0]}"'
    return Aligned(entities, (one_line(note),))


def _targets(documents: Sequence[Document], annotated: Corpus) -> dict[str, Document]:
    """Return the document that each annotated id stands for, each document at most once.

    It is the one with the same id, unless the letters differ; else the first unused one with the
    same letters.
    """
    by_id = {document.id: document for document in documents}
    letters = {document.id: _letters(document.text) for document in documents}
    letters_of = {document.id: _letters(document.text) for document in annotated.documents}
    targets = {
        id: by_id[id]
        for id in annotated.entities
        if id in by_id and letters_of.get(id, letters[id]) == letters[id]
    }
    left: defaultdict[str, deque[Document]] = defaultdict(deque)
    for document in documents:
        if document.id not in targets:
            left[letters[document.id]].append(document)
    for id in annotated.entities:
        if id not in targets and id in letters_of and left[letters_of[id]]:
            targets[id] = left[letters_of[id]].popleft()
    return targets


def _names(corpus: Corpus) -> str:
    return ", ".join(report.name for report in corpus.files) or "this file"


def _letters(text: str) -> str:
    return "".join(text.split())


def _checked(target: Document, entities: Sequence[Entity], annotated: Corpus) -> tuple[Entity, ...]:
    for entity in entities:
        if entity.end > len(target.text):
            raise InputError(
                f"{_names(annotated)}: an entity at {entity.start}-{entity.end} lies outside "
                f'document "{target.id}", which has {len(target.text):,} characters. '
                "Was it made from another version of the text?"
            )
    return tuple(entities)


def _moved(source: Document, target: Document, entities: Sequence[Entity]) -> tuple[Entity, ...]:
    """Move entities between texts that differ only in white space, by the count of letters."""
    places = [i for i, c in enumerate(target.text) if not c.isspace()]
    rank, letters_before = 0, []
    for char in source.text:
        letters_before.append(rank)
        rank += not char.isspace()
    letters_before.append(rank)
    moved = []
    for entity in entities:
        first, last = letters_before[entity.start], letters_before[entity.end] - 1
        if first <= last:
            moved.append(replace(entity, start=places[first], end=places[last] + 1))
    return tuple(moved)
