"""A project's gold: files of its own, or else the annotations in its text files."""

from collections.abc import Sequence
from pathlib import Path

from engine.files import GivenFile
from engine.formats import Aligned, align, gold_of
from engine.projects import store as store
from engine.projects.caches.corpus import load_corpora, store_corpora
from engine.projects.files import (
    GOLD,
    StoredFile,
    checked,
    delete_records,
    insert_records,
    new_batch,
    note_change,
    records,
    remove_bytes,
    store_files,
    sync,
    with_counts,
)
from engine.projects.texts import cache_path, read_batch, read_stored, read_text, tidy
from engine.settings import ReadOptions
from engine.text import Corpus, InputError


def set_gold(
    folder: Path,
    files: Sequence[GivenFile],
    options: ReadOptions,
    read: Corpus | None = None,
) -> list[str]:
    """Keep the files as gold in place of others; if they do not fit the text, nothing changes.

    `read` is what `read_corpus` returned for the same files and options. With it, they are not
    read again.
    """
    files = checked(files)
    stored = store_files(folder, files, f"{new_batch()}-0", GOLD, options)
    try:
        corpus = read if read is not None else _read_new(folder, stored, files)
        notes, gold = corpus.notes, gold_of(corpus)
        documents = read_text(folder).documents
        if documents or not gold.entities:  # without text, only gold without entities is refused
            notes += align(documents, gold).notes
        sync(folder, stored)
    except (InputError, MemoryError):
        remove_bytes(folder, stored)
        raise
    added = with_counts(stored, corpus)
    store_corpora([corpus], cache_path(folder, added))
    _replace(folder, added)
    return notes


def _read_new(folder: Path, stored: Sequence[StoredFile], files: Sequence[GivenFile]) -> Corpus:
    """Return what was read when the files were shown before they were saved, or read them."""
    kept = load_corpora(cache_path(folder, stored))
    return kept[0] if kept and len(kept) == 1 else read_stored(folder, stored, files)


def remove_gold(folder: Path) -> None:
    """Remove the gold files."""
    _replace(folder, [])


def read_gold(folder: Path, corpus: Corpus) -> Aligned | None:
    """Return the gold of these documents; None if there is none."""
    with store.reading(folder) as db:
        files = records(db, GOLD)
    if files:
        [unit] = read_batch(folder, files)
        return align(corpus.documents, gold_of(unit.corpus))
    ids = {document.id for document in corpus.documents}
    entities = gold_of(corpus).entities
    carried = {id: annotated for id, annotated in entities.items() if id in ids}
    return Aligned(carried) if carried else None


def _replace(folder: Path, added: Sequence[StoredFile]) -> None:
    with store.writing(folder) as db:
        gone = records(db, GOLD)
        delete_records(db, gone)
        insert_records(db, added)
        note_change(db, GOLD)
    remove_bytes(folder, gone)
    tidy(folder, cache_path(folder, gone))
