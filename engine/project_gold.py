"""A project's gold: files of its own, or else the annotations that its text files carry."""

from collections.abc import Sequence
from pathlib import Path

from engine import project_store as store
from engine.alignment import Aligned, align, gold_of
from engine.corpus_cache import store_corpora
from engine.files import SourceFile
from engine.formats import read_corpus
from engine.project_files import (
    GOLD,
    StoredFile,
    checked,
    delete_records,
    insert_records,
    make_records,
    new_batch,
    note_change,
    records,
    remove_bytes,
    store_bytes,
)
from engine.project_text import cache_path, read_batch, read_text, tidy
from engine.settings import ReadOptions
from engine.text import Corpus


def set_gold(folder: Path, files: Sequence[SourceFile], options: ReadOptions) -> list[str]:
    """Keep the files as the gold in place of others; nothing changes when they do not fit."""
    files = checked(files)
    corpus = read_corpus(files, options)
    notes, gold = corpus.notes, gold_of(corpus)
    documents = read_text(folder).documents
    if documents or not gold.entities:  # without text, only gold that holds nothing is refused
        notes += align(documents, gold).notes
    added = make_records(files, corpus, f"{new_batch()}-0", GOLD, options)
    store_bytes(folder, list(zip(added, files, strict=True)))
    store_corpora([corpus], cache_path(folder, added))
    _replace(folder, added)
    return notes


def remove_gold(folder: Path) -> None:
    """Remove the gold files."""
    _replace(folder, [])


def read_gold(folder: Path, corpus: Corpus) -> Aligned | None:
    """Return the gold of these documents; None when there is none."""
    with store.reading(folder) as db:
        files = records(db, GOLD)
    if files:
        [unit] = read_batch(folder, files)
        return align(corpus.documents, gold_of(unit.corpus))
    ids = {document.id for document in corpus.documents}
    carried = {id: of for id, of in gold_of(corpus).entities.items() if id in ids}
    return Aligned(carried) if carried else None


def _replace(folder: Path, added: Sequence[StoredFile]) -> None:
    with store.writing(folder) as db:
        gone = records(db, GOLD)
        delete_records(db, gone)
        insert_records(db, added)
        note_change(db, GOLD)
    remove_bytes(folder, gone)
    tidy(folder, cache_path(folder, gone))
