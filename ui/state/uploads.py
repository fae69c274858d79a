"""Uploaded files before they are saved: what is in them, read here or in a process of its own.

Small plain files are read at once (`engine.projects.AT_ONCE_BYTES` has the rule). For others, a
function here returns a `Reading` until its process has ended, and the page shows its progress.
"""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from engine.dictionaries import Dictionary, retype
from engine.files import SourceFile
from engine.formats import column_names
from engine.formats import read_corpus as read_files
from engine.jobs import Reading, start_import, start_reading
from engine.projects import (
    DictionaryPreview,
    GoldPreview,
    Project,
    TextPreview,
    UploadHealth,
    check_upload,
    is_previewed_at_once,
    is_read_at_once,
    kept_entries,
    preview_dictionaries,
    preview_from,
    preview_gold,
    preview_heads,
    preview_units,
    read_units,
    upload_health_from,
)
from engine.settings import ReadOptions
from engine.text import InputError
from ui.state.corpus import read_corpus
from ui.state.labels import dictionaries as held_dictionaries

_KEPT = 2  # previews of each kind; they are soon saved or thrown away
_HASHES, _READINGS = "upload_hashes", "upload_readings"


@dataclass(frozen=True, slots=True)
class Uploads:
    """Names of uploaded files, one hash of their names and bytes, and a way to get the bytes."""

    names: tuple[str, ...]
    key: str
    load: Callable[[], list[SourceFile]]

    @property
    def is_read_at_once(self) -> bool:
        return is_read_at_once(self.load())


@dataclass(frozen=True, slots=True)
class DictionaryRequest:
    """How uploaded dictionaries are to be saved."""

    entity_type: str  # of the files that name none
    types: tuple[tuple[str, str, str], ...]  # a dictionary's name, a type in it, its new type
    is_replacing: bool

    @property
    def values(self) -> dict[str, Any]:
        """The arguments of a process that reads dictionaries."""
        return asdict(self)

    def renamed(self, dictionaries: Sequence[Dictionary]) -> list[Dictionary]:
        """Return the dictionaries with the types that were asked for."""
        return retype(dictionaries, {(name, old): new for name, old, new in self.types})


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


# ---- previews: each is InputError if the files cannot be read ---------------------------------


def text_preview(
    project: Project, uploads: Uploads, options: ReadOptions, slot: str
) -> TextPreview | Reading:
    """Return what the files would add; `slot` is the uploader's key, for a process that reads."""
    if uploads.is_read_at_once:
        return _text_preview((uploads.key, options), uploads)
    if slot not in _readings() and is_previewed_at_once(uploads.load()):
        with suppress(InputError):  # it may be due to the cut, so all of the file decides
            return _text_heads((uploads.key, options), uploads)
    return _preview(project, uploads, slot, "preview_text", options)


def gold_preview(
    project: Project, uploads: Uploads, options: ReadOptions, slot: str
) -> GoldPreview | Reading:
    """Return what the files annotate in the project's text."""
    if uploads.is_read_at_once:
        return _gold_preview((uploads.key, options, project.text_key()), uploads, project)
    return _preview(project, uploads, slot, "preview_gold", options, project.text_key())


def dictionary_preview(
    project: Project, uploads: Uploads, options: ReadOptions, entity_type: str, slot: str
) -> DictionaryPreview | Reading:
    """Return the dictionaries in the files; `entity_type` is for files that name no type."""
    if uploads.is_read_at_once:
        return _dictionary_preview((uploads.key, options, entity_type), uploads)
    return _preview(
        project, uploads, slot, "preview_dictionaries", options, entity_type=entity_type
    )


def dictionary_health(
    project: Project,
    uploads: Uploads,
    options: ReadOptions,
    asked: DictionaryRequest,
    read: Sequence[Dictionary] | None,
    slot: str,
) -> UploadHealth | Reading:
    """Return what hurts in the dictionaries of the files, if they were saved as asked.

    `read` are the dictionaries, if this process has them.
    """
    kept = tuple(sorted(kept_entries(project)))
    basis = (project.id, project.labels_key(), kept, asked)
    if read is not None:
        return _dictionary_health((uploads.key, options, basis), project, asked, read)
    reading = read_apart(
        slot,
        (uploads.key, options, basis),
        lambda: start_reading(
            project.folder, "check_dictionaries", uploads.load(), options, **asked.values
        ),
    )
    if not reading.is_over or reading.is_cancelled:
        return reading
    return upload_health_from(reading.outcome())


def _preview(
    project: Project,
    uploads: Uploads,
    slot: str,
    task: str,
    options: ReadOptions,
    *key: str,
    **more: Any,
) -> Any:
    """Return the preview that a process of its own makes, or the reading that is to bring it."""
    reading = read_apart(
        slot,
        (uploads.key, options, project.id, *key, *more.values()),
        lambda: start_reading(project.folder, task, uploads.load(), options, **more),
    )
    if not reading.is_over or reading.is_cancelled:
        return reading
    return preview_from(reading.outcome())


# ---- saving -----------------------------------------------------------------------------------


def start_saving(
    project: Project, uploads: Uploads, options: ReadOptions, slot: str, task: str, **more: Any
) -> None:
    """Let a process of its own read the files and save them; `saving` returns it from now on."""
    reading = start_reading(project.folder, task, uploads.load(), options, **more)
    _readings()[_saving(slot)] = options, reading


def start_importing(file: UploadedFile, owner: str | None, slot: str) -> None:
    """Let a process of its own make a project of a zip; `saving` returns it from now on."""
    _readings()[_saving(slot)] = None, start_import(SourceFile(file.name, file.getvalue()), owner)


def saving(slot: str, options: ReadOptions | None = None) -> Reading | None:
    """Return the process that saves the files of an uploader, or has ended with these options.

    Without options it is any: the page was left meanwhile, so the uploader is empty.
    """
    key, reading = _readings().get(_saving(slot), (None, None))
    is_other = reading is not None and reading.is_over and options not in (None, key)
    return None if is_other else reading


def forget_saving(slot: str) -> None:
    """Let go of a process that was to save files."""
    forget(_saving(slot))


def _saving(slot: str) -> str:
    return f"{slot} save"


# ---- processes --------------------------------------------------------------------------------


def read_apart(slot: str, key: object, start: Callable[[], Reading]) -> Reading:
    """Return the reading in a slot; with another key, the old one is cancelled and one started."""
    entry = _readings().get(slot)
    if entry is None or entry[0] != key:
        forget(slot)
        _readings()[slot] = key, start()
    return _readings()[slot][1]


def reading_in(slot: str) -> Reading | None:
    """Return the reading in a slot."""
    return _readings().get(slot, (None, None))[1]


def taken(slot: str) -> tuple[Any, Reading]:
    """Return the key and the reading in a slot, which is empty from now on."""
    return _readings().pop(slot)


def forget(slot: str) -> None:
    """Cancel the reading in a slot, if there is one, and let go of it."""
    _, reading = _readings().pop(slot, (None, None))
    if reading is not None:
        reading.cancel()


def _readings() -> dict[str, tuple[Any, Reading]]:
    return st.session_state.setdefault(_READINGS, {})


# ---- read in this process ---------------------------------------------------------------------


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _columns(key: tuple[str, ReadOptions], _uploads: Uploads) -> tuple[str, ...]:
    names = (name for file in _uploads.load() for name in column_names(file, key[1]))
    return tuple(dict.fromkeys(name for name in names if name.strip()))


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading the files")
def _text_preview(key: tuple[str, ReadOptions], _uploads: Uploads) -> TextPreview:
    files = _uploads.load()
    return preview_units(files, read_units(files, key[1]))


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading the files")
def _text_heads(key: tuple[str, ReadOptions], _uploads: Uploads) -> TextPreview:
    return preview_heads(_uploads.load(), key[1])


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading the gold")
def _gold_preview(
    key: tuple[str, ReadOptions, str], _uploads: Uploads, _project: Project
) -> GoldPreview:
    return preview_gold(read_files(_uploads.load(), key[1]), read_corpus(_project))


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading the dictionaries")
def _dictionary_preview(key: tuple[str, ReadOptions, str], _uploads: Uploads) -> DictionaryPreview:
    return preview_dictionaries(_uploads.load(), key[1], key[2])


@st.cache_resource(max_entries=_KEPT, show_spinner="Checking the phrases")
def _dictionary_health(
    key: tuple[object, ...],
    _project: Project,
    _asked: DictionaryRequest,
    _read: Sequence[Dictionary],
) -> UploadHealth:
    return check_upload(
        _asked.renamed(_read),
        held_dictionaries(_project) if _project.dictionary_version() else (),
        read_corpus(_project).documents if _project.text_key() else (),
        _project.match_preset(),
        is_replacing=_asked.is_replacing,
        kept=kept_entries(_project),
    )
