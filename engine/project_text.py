"""A project's text files become one corpus, under document ids that stay as they are."""

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from engine.corpus_cache import load_corpus, load_ids, reader_version, store_corpus
from engine.files import SourceFile
from engine.formats import read_corpus
from engine.formats.ids import unique_ids
from engine.formats.reading import with_id
from engine.project_files import StoredFile, content_key, load_source
from engine.text import Corpus, Document, Entity, FileReport, InputError


def cache_path(folder: Path, unit: Sequence[StoredFile]) -> Path:
    """Return where the read form of a unit is kept; other bytes, options or code: another place."""
    plain = [replace(record, renamed=()) for record in unit]
    name = hashlib.sha256(f"{content_key(plain)} {reader_version()}".encode()).hexdigest()[:24]
    return folder / "cache" / f"{name}.npz"


def read_unit(folder: Path, unit: Sequence[StoredFile]) -> Corpus:
    """Return what the files of a unit hold, under the ids in the files."""
    path = cache_path(folder, unit)
    corpus = load_corpus(path)
    if corpus is None:
        files = [load_source(folder, record) for record in unit]
        corpus = read_corpus(files, unit[0].options)
        store_corpus(corpus, path)
    return corpus


def used_ids(folder: Path, units: Iterable[Sequence[StoredFile]]) -> list[str]:
    """Return the ids of all documents of the units, as the project knows them."""
    found: list[str] = []
    for unit in units:
        ids = load_ids(cache_path(folder, unit))
        if ids is None:
            ids = [document.id for document in read_unit(folder, unit).documents]
        renamed = dict(unit[0].renamed)
        found += [renamed.get(id, id) for id in ids]
    return found


def new_names(taken: Sequence[str], corpus: Corpus) -> dict[str, str]:
    """Return new ids for those documents whose id is taken.

    They are chosen once, when a file is added, so that no decision ever changes its document.
    """
    given = [document.id for document in corpus.documents]
    ids, _ = unique_ids([*taken, *given])
    pairs = zip(given, ids[len(taken) :], strict=True)
    return {old: new for old, new in pairs if old != new}


def join_units(parts: Sequence[tuple[Corpus, dict[str, str]]]) -> Corpus:
    """Return the units as one corpus, each with its own document ids changed as given.

    Annotations may name documents of another unit (an entities CSV); those that do not fit the
    document are left out, and a note says so.
    """
    documents: list[Document] = []
    for corpus, renamed in parts:
        documents += [with_id(d, renamed.get(d.id, d.id)) for d in corpus.documents]
    lengths = {document.id: len(document.text) for document in documents}
    entities: dict[str, tuple[Entity, ...]] = {}
    files: list[FileReport] = []
    for corpus, renamed in parts:
        own = {document.id for document in corpus.documents}
        left_out = 0
        for id, of in corpus.entities.items():
            place = renamed.get(id, id) if id in own else id
            kept = tuple(e for e in of if e.end <= lengths.get(place, e.end))
            left_out += len(of) - len(kept)
            entities[place] = (*entities.get(place, ()), *kept)
        files += _reports(corpus.files, len(renamed), left_out)
    return Corpus(tuple(documents), entities, tuple(files))


def check_annotations(corpus: Corpus, others: Sequence[Document]) -> None:
    """Raise InputError when annotations of other files' documents lie outside them."""
    lengths = {document.id: len(document.text) for document in others}
    for id, of in corpus.entities.items():
        for entity in of:
            if entity.end > lengths.get(id, entity.end):
                names = ", ".join(report.name for report in corpus.files)
                raise InputError(
                    f"{names}: an entity at {entity.start}-{entity.end} lies outside document "
                    f'"{id}", which has {lengths[id]:,} characters. '
                    "Was it made from another version of the text?"
                )


def annotates_others(corpus: Corpus) -> bool:
    """Return whether annotations name documents that are not in these files."""
    return not corpus.entities.keys() <= {document.id for document in corpus.documents}


def sweep(folder: Path, units: Sequence[Sequence[StoredFile]], names: set[str]) -> None:
    """Delete what a killed process or a removed file left behind in cache/ and `names` folders."""
    kept = {cache_path(folder, unit) for unit in units}
    for path in (folder / "cache").glob("*.npz"):
        if path not in kept:
            with suppress(OSError):
                path.unlink()


def read_files(files: Sequence[SourceFile], unit: Sequence[StoredFile], folder: Path) -> Corpus:
    """Read files that are about to be stored, and keep their read form for next time."""
    corpus = read_corpus(files, unit[0].options)
    store_corpus(corpus, cache_path(folder, unit))
    return corpus


def _reports(files: Iterable[FileReport], changed: int, left_out: int) -> list[FileReport]:
    notes = []
    if changed:
        notes.append(f'{changed:,} ids were used by another file already; "~2" was added to them')
    if left_out:
        notes.append(f"{left_out:,} entities lie outside their documents; left out")
    reports = list(files)
    if notes and reports:
        reports[0] = replace(reports[0], notes=(*reports[0].notes, *notes))
    return reports
