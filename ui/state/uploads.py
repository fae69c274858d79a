"""Files that were uploaded and not saved yet: hashed once, read once, to be looked at first."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

import engine
from engine.alignment import Aligned
from engine.dictionary_editing import with_own_names
from engine.project import Project
from ui.state.corpus import read_corpus

_KEPT = 2  # previews of each kind; they are soon saved or thrown away
_HASHES = "upload_hashes"
_FIRST_ROWS = 5


@dataclass(frozen=True, slots=True)
class Uploads:
    """Uploaded files by name, one hash of their names and bytes, and how to get the bytes."""

    names: tuple[str, ...]
    key: str
    load: Callable[[], list[engine.SourceFile]]


@dataclass(frozen=True, slots=True)
class TextPreview:
    """What would be added, before it is."""

    corpus: engine.Corpus
    figures: engine.TextFigures
    first: pd.DataFrame  # the first documents: document, sentences, tokens, longest, text

    @property
    def entities(self) -> int:
        return sum(map(len, self.corpus.entities.values()))


@dataclass(frozen=True, slots=True)
class DictionaryPreview:
    """The dictionaries in uploaded files."""

    dictionaries: tuple[engine.Dictionary, ...]
    untyped: tuple[str, ...]  # what is said of each file that names no type for its phrases


def uploaded(files: Sequence[UploadedFile]) -> Uploads:
    """Return the files of an uploader; the bytes of each are hashed once, not at every click."""
    hashes: dict[str, str] = st.session_state.setdefault(_HASHES, {})
    for file in files:
        if file.file_id not in hashes:
            hashes[file.file_id] = hashlib.sha256(file.getbuffer()).hexdigest()
    parts = [f"{file.name}\n{hashes[file.file_id]}" for file in files]
    return Uploads(
        tuple(file.name for file in files),
        hashlib.sha256("\n".join(parts).encode()).hexdigest(),
        lambda: [engine.SourceFile(file.name, file.getvalue()) for file in files],
    )


def columns(uploads: Uploads, options: engine.ReadOptions) -> list[str]:
    """Return the columns to choose from: those of all the files, each once."""
    try:
        return list(_columns((uploads.key, options), uploads))
    except engine.InputError:  # the preview says it
        return []


def text_preview(uploads: Uploads, options: engine.ReadOptions) -> TextPreview:
    """Return what the files would add; InputError says why they cannot be read."""
    return _text_preview((uploads.key, options), uploads)


def gold_preview(uploads: Uploads, options: engine.ReadOptions, project: Project) -> Aligned:
    """Return the annotations of the files at their places in the project's text."""
    return _gold_preview((uploads.key, options, project.text_key()), uploads, project)


def dictionary_preview(
    uploads: Uploads, options: engine.ReadOptions, entity_type: str
) -> DictionaryPreview:
    """Return the dictionaries in the files, each under a name of its own.

    `entity_type` is for files that name no type; a plain list takes its file's name all the same.
    """
    return _dictionary_preview((uploads.key, options, entity_type), uploads)


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _columns(key: tuple[str, engine.ReadOptions], _uploads: Uploads) -> tuple[str, ...]:
    names = (name for file in _uploads.load() for name in engine.column_names(file, key[1]))
    return tuple(dict.fromkeys(name for name in names if name.strip()))


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading the files")
def _text_preview(key: tuple[str, engine.ReadOptions], _uploads: Uploads) -> TextPreview:
    corpus = engine.read_corpus(_uploads.load(), key[1])
    first = engine.document_table(corpus, _FIRST_ROWS)
    return TextPreview(corpus, engine.measure_text(corpus), first)


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading the gold")
def _gold_preview(
    key: tuple[str, engine.ReadOptions, str], _uploads: Uploads, _project: Project
) -> Aligned:
    gold = engine.gold_of(engine.read_corpus(_uploads.load(), key[1]))
    found = engine.align(read_corpus(_project).documents, gold)
    return Aligned(found.entities, (*gold.notes, *found.notes))


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading the dictionaries")
def _dictionary_preview(
    key: tuple[str, engine.ReadOptions, str], _uploads: Uploads
) -> DictionaryPreview:
    _, options, entity_type = key
    found: list[engine.Dictionary] = []
    untyped: list[engine.InputError] = []
    for file in _uploads.load():
        try:
            found += engine.read_dictionaries([file], options)
        except engine.InputError as error:
            if error.fix != "entity_type":
                raise
            untyped.append(error)
            if entity_type:
                found += engine.read_dictionaries([file], options, entity_type)
    return DictionaryPreview(tuple(with_own_names(found)), tuple(str(error) for error in untyped))
