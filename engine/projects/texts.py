"""Add text files to a project and read them as one corpus, with document ids that never change.

Files that are added together are a batch; what was read from them is cached in one file. Within a
batch, files that are read together (a .txt and its .ann) are a unit with a corpus of its own.
"""

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from engine.files import GivenFile, Source, SourceFile, read_blocks
from engine.formats import pair_files, read_corpus, unique_ids, with_id
from engine.projects import store as store
from engine.projects.caches.corpus import load_corpora, load_ids, reader_version, store_corpora
from engine.projects.files import (
    CACHE,
    GOLD,
    TEXT,
    StoredFile,
    change_counts,
    change_options,
    checked,
    content_key,
    delete_records,
    insert_records,
    load_source,
    new_batch,
    note_change,
    records,
    remove_bytes,
    store_files,
    sweep,
    sync,
    with_counts,
)
from engine.settings import ENGLISH, LANGUAGES, NO_LIMITS, ReadOptions
from engine.system import moment, now
from engine.text import Corpus, Document, Entity, FileReport, InputError, detect_language


class Unit(NamedTuple):
    """Files that are read together, and what was read from them."""

    files: list[StoredFile]
    corpus: Corpus

    @property
    def renamed(self) -> dict[str, str]:
        return dict(self.files[0].renamed)


# ---- reading --------------------------------------------------------------------------------


def read_text(folder: Path) -> Corpus:
    """Return all text files of a project as one corpus."""
    with store.reading(folder) as db:
        files = records(db, TEXT)
    return _join([unit for batch in _batches(files) for unit in read_batch(folder, batch)])


def read_batch(folder: Path, batch: Sequence[StoredFile]) -> list[Unit]:
    """Return the units of one batch, from the cache or else from the files."""
    units, path = _units(batch), cache_path(folder, batch)
    corpora = load_corpora(path)
    if corpora is None or len(corpora) != len(units):
        corpora = [read_stored(folder, unit) for unit in units]
        store_corpora(corpora, path)
    return [Unit(unit, corpus) for unit, corpus in zip(units, corpora, strict=True)]


def cache_path(folder: Path, batch: Sequence[StoredFile]) -> Path:
    """Return where a batch is cached; other bytes, options or code give another place."""
    plain = content_key(replace(file, renamed=()) for file in batch)
    name = hashlib.sha256(f"{plain} {reader_version()}".encode()).hexdigest()[:24]
    return folder / CACHE / f"{name}.npz"


def tidy(folder: Path, *stale: Path) -> None:
    """Delete caches that are no longer used, and files that killed processes left behind."""
    with store.reading(folder) as db:
        files = [*records(db, TEXT), *records(db, GOLD)]
    kept = {cache_path(folder, batch) for batch in _batches(files)}
    for path in stale:
        if path not in kept:
            with suppress(OSError):
                path.unlink()
    sweep(folder, kept | {folder / file.path for file in files})


# ---- adding and removing --------------------------------------------------------------------


def read_units(files: Sequence[GivenFile], options: ReadOptions) -> list[Corpus]:
    """Return what `add_text` would add, one corpus per unit, for a look before they are saved."""
    return [read_corpus(unit, options) for unit in pair_files(checked(files))]


def read_once(
    folder: Path, units: Sequence[Sequence[GivenFile]], options: ReadOptions
) -> list[Corpus]:
    """Return what units of new files hold, and cache it: whoever needs it next need not read them.

    Adding the same files to the project finds it. `folder` may also be that of a job.
    """
    path = cache_path(folder, _records_of(units, options))
    corpora = load_corpora(path)
    if corpora is None or len(corpora) != len(units):
        corpora = [read_corpus(unit, options) for unit in units]
        store_corpora(corpora, path)
    return corpora


def _records_of(units: Sequence[Sequence[GivenFile]], options: ReadOptions) -> list[StoredFile]:
    """Return the records that the files would get, as far as a cache's name depends on them."""
    added_at = moment(now())
    listed = []
    for number, unit in enumerate(units):
        for file in unit:
            digest = hashlib.sha256()
            for block in read_blocks(file):
                digest.update(block)
            record = StoredFile("", file.name, file.size, added_at, options, 0, 0, 0)
            listed.append(replace(record, unit=f"-{number}", sha256=digest.hexdigest()))
    return listed


def add_text(
    folder: Path,
    files: Sequence[GivenFile],
    options: ReadOptions,
    read: Sequence[Corpus] | None = None,
) -> list[str]:
    """Add the files and return notes about them; if one is bad, nothing changes.

    `read` is what `read_units` returned for the same files and options. With it, they are not split
    and tokenized again.
    """
    with store.reading(folder) as db:
        chosen = store.choice(db, store.LANGUAGE)
    if options.language is None and chosen in LANGUAGES and chosen != ENGLISH:
        options, read = replace(options, language=chosen), None  # it was read as English
    given = pair_files(checked(files))
    if read is not None and len(read) != len(given):
        raise ValueError(f"{len(given)} units were given, {len(read)} were read")
    copied: list[StoredFile] = []
    try:
        units, notes = _copy_and_read(folder, given, options, read, copied)
        if units:
            sync(folder, copied)
            added = [file for unit in units for file in unit.files]
            store_corpora([unit.corpus for unit in units], cache_path(folder, added))
            notes += _insert(folder, units)
    except (InputError, MemoryError):
        _remove_unnamed(folder, copied)
        raise
    if units:
        notes += _settle_language(folder, units, options.language, chosen)
        tidy(folder)
    return notes


def _settle_language(
    folder: Path, units: Sequence[Unit], given: str | None, chosen: str | None
) -> list[str]:
    """Give the project the language of its first text; return a note if it was detected."""
    if chosen is not None or given is not None:
        if chosen is None:
            set_language(folder, str(given))
        return []
    texts = (document.text for unit in units for document in unit.corpus.documents)
    detected = detect_language(texts)
    if detected == ENGLISH:
        return []
    set_language(folder, detected)
    return [
        f"the text looks {LANGUAGES[detected]}; sentences and stop words follow that language. You "
        "can change it on the page Text"
    ]


def set_language(folder: Path, code: str) -> None:
    """Read all text of a project as that of a language from now on."""
    if code not in LANGUAGES:
        raise InputError(f'"{code}" is not a language that is known: {", ".join(LANGUAGES)}')
    with store.writing(folder) as db:
        store.set_choice(db, store.LANGUAGE, code)
        # English is how text was read before there was a choice, so that nothing changes for it.
        change_options(db, TEXT, language=None if code == ENGLISH else code)
        note_change(db, TEXT)
        files = records(db, TEXT)
    with suppress(InputError):  # a file that cannot be read any more; whoever needs it is told
        units = [unit for batch in _batches(files) for unit in read_batch(folder, batch)]
        with store.writing(folder) as db:
            change_counts(db, [file for unit in units for file in with_counts(*unit)])


def _copy_and_read(
    folder: Path,
    given: Sequence[Sequence[GivenFile]],
    options: ReadOptions,
    read: Sequence[Corpus] | None,
    copied: list[StoredFile],
) -> tuple[list[Unit], list[str]]:
    """Copy the files into the project (noted in `copied`) and read those that are new to it."""
    with store.reading(folder) as db:
        known = {_identity(file) for file in records(db, TEXT)}
    batch, notes = new_batch(), []
    new: list[tuple[int, list[StoredFile]]] = []
    for number, files in enumerate(given):
        stored = store_files(folder, files, f"{batch}-{number}", TEXT, options)
        if known.issuperset(map(_identity, stored)):
            remove_bytes(folder, stored)
            notes.append(f"{files[0].name} is in the project already; it was not added again")
            continue
        copied += stored
        known.update(map(_identity, stored))
        new.append((number, stored))
    kept = load_corpora(cache_path(folder, copied)) if read is None and copied else None
    if kept is not None and len(kept) == len(new):
        corpora: Iterable[Corpus] = kept
    elif read is not None:
        corpora = (read[number] for number, _ in new)
    else:
        corpora = (read_stored(folder, stored, given[number]) for number, stored in new)
    units = [
        Unit(with_counts(stored, corpus), corpus)
        for (_, stored), corpus in zip(new, corpora, strict=True)
    ]
    return units, notes


def _remove_unnamed(folder: Path, copied: Sequence[StoredFile]) -> None:
    """Delete copies, but none that a row names: what went wrong may have done so after that."""
    with store.reading(folder) as db:
        named = {file.id for file in records(db, TEXT)}
    remove_bytes(folder, (file for file in copied if file.id not in named))


def read_stored(
    folder: Path, stored: Sequence[StoredFile], given: Sequence[GivenFile] = ()
) -> Corpus:
    """Return what files that are read together hold.

    They are read from the project's own copies, which nobody changes meanwhile, unless the bytes of
    all of them are in memory already.
    """
    held = [file for file in given if isinstance(file, SourceFile)]
    sources: Sequence[Source] = held
    if len(held) < len(stored):
        limits = given[0].limits if given else NO_LIMITS
        sources = [load_source(folder, record, limits) for record in stored]
    return read_corpus(sources, stored[0].options)


def remove_text(folder: Path, file_id: str) -> None:
    """Remove a file, and those that are read together with it."""
    with store.writing(folder) as db:
        files = records(db, TEXT)
        units = [file.unit for file in files if file.id == file_id]
        if not units:
            raise InputError(f'there is no text file "{file_id}" in this project')
        gone = [file for file in files if file.unit == units[0]]
        delete_records(db, gone)
        note_change(db, TEXT)
    batch = [file for file in files if file.batch == gone[0].batch]
    _shrink_cache(folder, batch, gone)
    remove_bytes(folder, gone)
    tidy(folder, cache_path(folder, batch))


def _identity(file: StoredFile) -> tuple[str, str, ReadOptions]:
    return (file.name, file.sha256, file.options)


def _insert(folder: Path, units: Sequence[Unit]) -> list[str]:
    """Choose document ids and store the rows; start again if the text changed meanwhile."""
    while True:
        with store.reading(folder) as db:
            key, files = store.fact(db, "text_key"), records(db, TEXT)
        renamed = _renamed(units, _used_ids(folder, files))
        _check_annotations(folder, renamed)
        with store.writing(folder) as db:
            if store.fact(db, "text_key") == key:
                insert_records(db, [file for unit in renamed for file in unit.files])
                note_change(db, TEXT)
                break
    return Corpus((), {}, tuple(r for unit in renamed for r in _reports(unit))).notes


def _renamed(units: Sequence[Unit], taken: Sequence[str]) -> list[Unit]:
    """Return the units, with new ids for documents whose id is taken.

    Ids are chosen when a file is added and never change, so decisions stay with their document.
    """
    given = [[document.id for document in corpus.documents] for _, corpus in units]
    ids = iter(unique_ids([*taken, *(id for own in given for id in own)])[0][len(taken) :])
    result = []
    for (files, corpus), own in zip(units, given, strict=True):
        changed = tuple(
            sorted((old, new) for old, new in zip(own, ids, strict=False) if old != new)
        )
        result.append(Unit([replace(file, renamed=changed) for file in files], corpus))
    return result


def _used_ids(folder: Path, files: Sequence[StoredFile]) -> list[str]:
    used: list[str] = []
    for batch in _batches(files):
        units = _units(batch)
        ids = load_ids(cache_path(folder, batch))
        if ids is None or len(ids) != len(units):
            ids = [[d.id for d in unit.corpus.documents] for unit in read_batch(folder, batch)]
        for unit, own in zip(units, ids, strict=True):
            renamed = dict(unit[0].renamed)
            used += [renamed.get(id, id) for id in own]
    return used


def _shrink_cache(folder: Path, batch: list[StoredFile], gone: Sequence[StoredFile]) -> None:
    """Keep what was read from the files of a batch that are left."""
    left = [file for file in batch if file not in gone]
    corpora = load_corpora(cache_path(folder, batch)) if left else None
    units = _units(batch)
    if corpora is not None and len(corpora) == len(units):
        kept = [c for unit, c in zip(units, corpora, strict=True) if unit[0] not in gone]
        store_corpora(kept, cache_path(folder, left))


# ---- joining --------------------------------------------------------------------------------


def _join(units: Sequence[Unit]) -> Corpus:
    documents: list[Document] = []
    for unit in units:
        renamed = unit.renamed
        documents += [with_id(d, renamed.get(d.id, d.id)) for d in unit.corpus.documents]
    lengths = {document.id: len(document.text) for document in documents}
    entities: dict[str, tuple[Entity, ...]] = {}
    files: list[FileReport] = []
    for unit in units:
        renamed, left_out = unit.renamed, 0
        own = {document.id for document in unit.corpus.documents}
        for id, annotated in unit.corpus.entities.items():
            # An entities CSV names documents of other files by their ids in the project.
            place = renamed.get(id, id) if id in own else id
            kept = tuple(e for e in annotated if e.end <= lengths.get(place, e.end))
            left_out += len(annotated) - len(kept)
            entities[place] = (*entities.get(place, ()), *kept)
        files += _reports(unit, left_out)
    return Corpus(tuple(documents), entities, tuple(files))


def _check_annotations(folder: Path, units: Sequence[Unit]) -> None:
    """Raise InputError if annotations lie outside the documents of other files they name."""
    foreign = [
        unit
        for unit in units
        if not unit.corpus.entities.keys() <= {d.id for d in unit.corpus.documents}
    ]
    if not foreign:
        return
    joined = _join(units)
    lengths = {d.id: len(d.text) for d in (*read_text(folder).documents, *joined.documents)}
    for unit in foreign:
        own = {document.id for document in unit.corpus.documents}
        for id, annotated in unit.corpus.entities.items():
            end = max((entity.end for entity in annotated), default=0)
            if id not in own and end > lengths.get(id, end):
                raise InputError(
                    f"{unit.files[0].name}: an entity that ends at {end:,} lies outside document "
                    f'"{id}", which has {lengths[id]:,} characters. '
                    "Was it made from another version of the text?"
                )


def _reports(unit: Unit, left_out: int = 0) -> list[FileReport]:
    notes = []
    if unit.renamed:
        count = len(unit.renamed)
        notes.append(f'{count:,} ids were used by another file already; "~2" was added to them')
    if left_out:
        notes.append(f"{left_out:,} entities lie outside their documents; left out")
    first, *others = unit.corpus.files or (FileReport(unit.files[0].name, ""),)
    return [replace(first, notes=(*first.notes, *notes)), *others]


def _batches(files: Iterable[StoredFile]) -> list[list[StoredFile]]:
    batches: dict[str, list[StoredFile]] = {}
    for file in files:
        batches.setdefault(file.batch, []).append(file)
    return list(batches.values())


def _units(batch: Iterable[StoredFile]) -> list[list[StoredFile]]:
    units: dict[str, list[StoredFile]] = {}
    for file in batch:
        units.setdefault(file.unit, []).append(file)
    return list(units.values())
