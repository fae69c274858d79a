"""What other systems or people found in a project's text, under a name that the user chooses.

Each opinion is one file of the project's folder: the entities by document, and a hash of each
document's text, so that entities of a text that has changed are left out.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from engine.dictionaries import Dictionary, Phrase, Place, type_name
from engine.files import GivenFile, read_whole, written_whole
from engine.formats import align, read_corpus
from engine.planning import METHODS
from engine.projects.files import checked
from engine.projects.texts import read_text
from engine.settings import ReadOptions
from engine.system import moment, now
from engine.text import Document, Entity, InputError, fit_notes, one_line, spans_from_entities

FOLDER = "opinions"
_LONGEST_NAME = 60
_MOST_INSIDE = 0.5  # of the entities may begin or end inside a token; else the offsets are wrong
_TITLES = (method.title.casefold() for method in METHODS.values())
_TAKEN = frozenset(("gold", "dictionary", "likely", "review", *METHODS, *_TITLES))


@dataclass(frozen=True, slots=True)
class Opinion:
    """Entities that came from elsewhere."""

    name: str  # the user's
    files: tuple[str, ...]  # where they came from
    added_at: datetime
    documents: int
    entities: int
    key: str  # of the content


def add_opinion(
    folder: Path,
    name: str,
    files: Sequence[GivenFile],
    options: ReadOptions,
    format: str | None = None,
) -> list[str]:
    """Keep the entities in these files as an opinion, and return notes.

    An opinion of the same name is replaced. InputError if they do not fit the project's text; then
    nothing changes.
    """
    name = _checked_name(name)
    documents = read_text(folder).documents
    if not documents:
        raise InputError("the project has no text yet, so there is nothing to have an opinion on")
    corpus = read_corpus([read_whole(file) for file in checked(files)], options, format)
    aligned = align(documents, corpus, what="predictions")
    by_id = {document.id: document for document in documents}
    notes = [*corpus.notes, *aligned.notes, *_fitted(by_id, aligned.entities, files)]
    record = {
        "name": name,
        "files": [file.name for file in files],
        "added_at": now(),
        "documents": {
            id: {"text": _hash(by_id[id].text), "entities": [_row(e) for e in entities]}
            for id, entities in aligned.entities.items()
        },
    }
    (folder / FOLDER).mkdir(exist_ok=True)
    with written_whole(_path(folder, name)) as out:
        out.write(json.dumps(record).encode())
    return notes


def opinions(folder: Path) -> list[Opinion]:
    """Return the opinions of a project, by name."""
    listed = []
    for path in _paths(folder):
        record, key = _load(path)
        found = record["documents"].values()
        listed.append(
            Opinion(
                record["name"],
                tuple(record["files"]),
                moment(record["added_at"]),
                len(found),
                sum(len(document["entities"]) for document in found),
                key,
            )
        )
    return sorted(listed, key=lambda opinion: opinion.name.casefold())


def opinions_key(folder: Path) -> str:
    """Return a hash that changes with the opinions, without reading them; "" if there are none."""
    with suppress(OSError):
        files = [(p.name, p.stat().st_mtime_ns, p.stat().st_size) for p in _paths(folder)]
        return _hash(repr(files)) if files else ""
    return ""


def opinion_entities(
    folder: Path, name: str, documents: Sequence[Document]
) -> Mapping[str, tuple[Entity, ...]]:
    """Return the entities of an opinion in the documents whose text is as it was."""
    path = _path(folder, name)
    if not path.is_file():
        raise InputError(f'the project has no opinion called "{name}"')
    stored = _load(path)[0]["documents"]
    return {
        document.id: tuple(
            Entity(start, end, entity_type, score, name)
            for start, end, entity_type, score in held["entities"]
        )
        for document in documents
        if (held := stored.get(document.id)) and held["text"] == _hash(document.text)
    }


def as_dictionary(folder: Path, name: str, documents: Sequence[Document]) -> Dictionary:
    """Return an opinion as a dictionary whose phrases match only where the opinion has them."""
    texts = {document.id: document.text for document in documents}
    places = tuple(
        Place(id, e.start, e.end, " ".join(texts[id][e.start : e.end].split()), e.entity_type)
        for id, entities in opinion_entities(folder, name, documents).items()
        for e in entities
    )
    if not places:
        raise InputError(f'the opinion "{name}" has no entity in this text')
    phrases = dict.fromkeys(Phrase(place.text, type_name(place.entity_type)) for place in places)
    places = tuple(place._replace(entity_type=type_name(place.entity_type)) for place in places)
    return Dictionary(f"{' '.join(name.split())} (opinion)", tuple(phrases), places=places)


def remove_opinion(folder: Path, name: str) -> None:
    """Remove an opinion."""
    try:
        _path(folder, name).unlink()
    except FileNotFoundError:
        raise InputError(f'the project has no opinion called "{name}"') from None
    with suppress(OSError):
        (folder / FOLDER).rmdir()  # the last one is gone


def _checked_name(name: str) -> str:
    clean = " ".join(name.split())
    if not clean or not clean.isprintable() or len(clean) > _LONGEST_NAME:
        raise InputError(
            f"an opinion needs a name of 1 to {_LONGEST_NAME} characters, e.g. GPT or Anna"
        )
    if clean.casefold() in _TAKEN:
        raise InputError(f'"{clean}" is what Glossa calls something else; choose another name')
    return clean


def _fitted(
    documents: Mapping[str, Document],
    entities: Mapping[str, Sequence[Entity]],
    files: Sequence[GivenFile],
) -> list[str]:
    """Return notes on entities that do not fit tokens; InputError if most of them do not."""
    fits = [spans_from_entities(documents[id], found) for id, found in entities.items()]
    snapped, cut, dropped = (
        [entity for fit in fits for entity in getattr(fit, kind)]
        for kind in ("snapped", "cut", "dropped")
    )
    count = sum(map(len, entities.values()))
    if len(snapped) > _MOST_INSIDE * count:
        names = ", ".join(file.name for file in files)
        raise InputError(
            f"{names}: {len(snapped):,} of {count:,} entities begin or end inside a word of the "
            f"text (the first at {snapped[0].start}-{snapped[0].end}). Offsets count characters "
            "from 0 in the same text; was it another version?"
        )
    return fit_notes(len(snapped), len(cut), len(dropped))


# ---- files ------------------------------------------------------------------------------------


def _paths(folder: Path) -> list[Path]:
    return sorted((folder / FOLDER).glob("*.json"))


def _path(folder: Path, name: str) -> Path:
    return folder / FOLDER / f"{_hash(' '.join(name.split()))}.json"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _row(entity: Entity) -> list[Any]:
    return [entity.start, entity.end, entity.entity_type, entity.score]


def _load(path: Path) -> tuple[dict[str, Any], str]:
    """Return what is in the file of an opinion, and a hash of it."""
    try:
        data = path.read_bytes()
        record = json.loads(data)
        moment(record["added_at"])
        names = [record["name"], *record["files"], *record["documents"]]
        if any(type(name) is not str for name in names):
            raise TypeError("a name is not a text")
        for document in record["documents"].values():
            for row in document["entities"]:
                _check_row(row)
    except (
        OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError
    ) as error:  # fmt: skip
        reason = one_line(str(error))[:120]
        raise InputError(
            f"{FOLDER}/{path.name} of this project cannot be read ({reason}). Delete it, and add "
            "the opinion again"
        ) from error
    return record, hashlib.sha256(data).hexdigest()[:16]


def _check_row(row: Any) -> None:
    start, end, entity_type, score = row
    are_right = (
        type(start) is int
        and type(end) is int
        and 0 <= start < end
        and type(entity_type) is str
        and (score is None or type(score) in (int, float))
    )
    if not are_right:
        raise TypeError("a row is no entity")
