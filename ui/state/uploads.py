"""Uploaded files before they are saved: hash and read each once, and keep what was read."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from engine.dictionaries import Dictionary, read_dictionaries, with_own_names
from engine.files import SourceFile
from engine.formats import Aligned, align, column_names, gold_of, join_corpora
from engine.formats import read_corpus as read_files
from engine.projects import Project, read_units
from engine.settings import ReadOptions
from engine.text import Corpus, InputError, TextFigures, document_table, measure_text
from ui.state.corpus import read_corpus

_KEPT = 2  # previews of each kind; they are soon saved or thrown away
_HASHES = "upload_hashes"
_FIRST_ROWS = 5


@dataclass(frozen=True, slots=True)
class Uploads:
    """Names of uploaded files, one hash of their names and bytes, and a way to get the bytes."""

    names: tuple[str, ...]
    key: str
    load: Callable[[], list[SourceFile]]


@dataclass(frozen=True, slots=True)
class TextPreview:
    """What saving would add: read once for the preview, and saved without reading again."""

    units: tuple[Corpus, ...]  # as the project keeps them
    corpus: Corpus  # all of them
    figures: TextFigures
    first: pd.DataFrame  # the first documents: document, sentences, tokens, longest, text

    @property
    def entities(self) -> int:
        return sum(map(len, self.corpus.entities.values()))


@dataclass(frozen=True, slots=True)
class GoldPreview:
    """What the gold files hold, and their annotations at their places in the project's text."""

    corpus: Corpus
    aligned: Aligned


@dataclass(frozen=True, slots=True)
class DictionaryPreview:
    """The dictionaries in uploaded files."""

    dictionaries: tuple[Dictionary, ...]
    untyped: tuple[str, ...]  # the message for each file that names no type for its phrases


def uploaded(files: Sequence[UploadedFile]) -> Uploads:
    """Return the files of an uploader; each is hashed once, not at every click."""
    hashes: dict[str, str] = st.session_state.setdefault(_HASHES, {})
    for file in files:
        if file.file_id not in hashes:
            hashes[file.file_id] = hashlib.sha256(file.getbuffer()).hexdigest()
    parts = [f"{file.name}\n{hashes[file.file_id]}" for file in files]
    return Uploads(
        tuple(file.name for file in files),
        hashlib.sha256("\n".join(parts).encode()).hexdigest(),
        lambda: [SourceFile(file.name, file.getvalue()) for file in files],
    )


def columns(uploads: Uploads, options: ReadOptions) -> list[str]:
    """Return the columns to choose from: those of all files, each once."""
    try:
        return list(_columns((uploads.key, options), uploads))
    except InputError:  # the preview shows it
        return []


def text_preview(uploads: Uploads, options: ReadOptions) -> TextPreview:
    """Return what the files would add; InputError if they cannot be read."""
    return _text_preview((uploads.key, options), uploads)


def gold_preview(uploads: Uploads, options: ReadOptions, project: Project) -> GoldPreview:
    """Return the annotations of the files at their places in the project's text."""
    return _gold_preview((uploads.key, options, project.text_key()), uploads, project)


def dictionary_preview(
    uploads: Uploads, options: ReadOptions, entity_type: str
) -> DictionaryPreview:
    """Return the dictionaries in the files, each under a name of its own.

    `entity_type` is for files that name no type. A plain list still takes its file's name as type.
    """
    return _dictionary_preview((uploads.key, options, entity_type), uploads)


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _columns(key: tuple[str, ReadOptions], _uploads: Uploads) -> tuple[str, ...]:
    names = (name for file in _uploads.load() for name in column_names(file, key[1]))
    return tuple(dict.fromkeys(name for name in names if name.strip()))


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading the files")
def _text_preview(key: tuple[str, ReadOptions], _uploads: Uploads) -> TextPreview:
    units = read_units(_uploads.load(), key[1])
    corpus = join_corpora(units)
    first = document_table(corpus, _FIRST_ROWS)
    return TextPreview(tuple(units), corpus, measure_text(corpus), first)


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading the gold")
def _gold_preview(
    key: tuple[str, ReadOptions, str], _uploads: Uploads, _project: Project
) -> GoldPreview:
    corpus = read_files(_uploads.load(), key[1])
    gold = gold_of(corpus)
    aligned = align(read_corpus(_project).documents, gold)
    return GoldPreview(corpus, Aligned(aligned.entities, (*gold.notes, *aligned.notes)))


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading the dictionaries")
def _dictionary_preview(key: tuple[str, ReadOptions, str], _uploads: Uploads) -> DictionaryPreview:
    _, options, entity_type = key
    dictionaries: list[Dictionary] = []
    untyped: list[InputError] = []
    for file in _uploads.load():
        try:
            dictionaries += read_dictionaries([file], options)
        except InputError as error:
            if error.fix != "entity_type":
                raise
            untyped.append(error)
            if entity_type:
                dictionaries += read_dictionaries([file], options, entity_type)
    named = tuple(with_own_names(dictionaries))
    return DictionaryPreview(named, tuple(str(error) for error in untyped))
