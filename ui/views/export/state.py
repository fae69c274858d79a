"""The file of an export: the chosen entities, filtered, written and verified.

`engine.export.choice` decides which entities these are. Here they are kept by the content they came
from, so that a click which changes nothing computes nothing. Large files are made when they are
downloaded.
"""

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import streamlit as st

from engine import jobs
from engine.export import (
    CARD_ENDING,
    DICTIONARY,
    GOLD,
    REVIEWED,
    RUN,
    ChosenEntities,
    EntitySets,
    ExportChoice,
    Verification,
    card_bytes,
    choose_entities,
    count_entities,
    filter_entities,
    offered,
    project_card,
    verify,
    with_known,
)
from engine.files import SourceFile
from engine.formats import FORMATS, Format, WriteOptions, is_packed, view_config
from engine.jobs import Job
from engine.projects import Project
from engine.review import KnownPhrases
from engine.settings import NO_LIMITS, ReadOptions
from engine.text import Corpus, EntitiesByDocument, InputError
from ui.state import corpus, findings

PREVIEW_LINES = 10
_LONGEST_LINE = 400  # characters of a line in the preview
_KEPT = 4
# Up to here the page makes and verifies the whole file; a larger one is made on download.
_MOST_ENTITIES, _MOST_CHARACTERS = 20_000, 400_000
_PREVIEW_DOCUMENTS = 5


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file in memory, and notes on what had to be changed to write it."""

    data: bytes
    notes: Sequence[str]
    is_whole: bool = True  # False: only the beginning, for the preview


# ---- which entities -------------------------------------------------------------------------


class CachedSets(EntitySets):
    """The sets of entities of a project, from what the app keeps in memory."""

    def gold(self) -> EntitiesByDocument | None:
        return gold(self.project) or None

    def matched(self) -> EntitiesByDocument:
        return findings.matched(self.project)

    def predicted(self, job: Job, method: str) -> EntitiesByDocument:
        return findings.found(self.project, job, method)

    def known(self) -> KnownPhrases:
        return findings.known(self.project)


def available(project: Project) -> list[str]:
    """Return what there is to export, the most finished first."""
    return offered(
        has_run=bool(findings.runs(project)),
        has_decisions=bool(findings.decisions(project)),
        has_dictionary=bool(project.dictionary_version()),
        has_gold=bool(gold(project)),
    )


def gold(project: Project) -> EntitiesByDocument:
    """Return the gold; empty where there is none or it cannot be read."""
    try:
        aligned = corpus.gold(project)
    except InputError:  # the page Text shows the error
        return {}
    return aligned.entities if aligned else {}


def chosen(project: Project, choice: ExportChoice) -> ChosenEntities:
    """Return the chosen set before filtering, and how many entities have lost their text."""
    bare = ExportChoice(choice.what, choice.run, choice.method)
    return _chosen(_key(project, bare), project, bare)


def types(project: Project, choice: ExportChoice) -> list[str]:
    """Return the types of the chosen set."""
    bare = ExportChoice(choice.what, choice.run, choice.method)
    return _types(_key(project, bare), project, bare)


def selected(project: Project, choice: ExportChoice) -> Corpus:
    """Return the documents and entities that pass the filters, marked as known or not."""
    return with_known(_sets(project), choice, filtered(project, choice))


def filtered(project: Project, choice: ExportChoice) -> Corpus:
    """Return the documents and entities that pass the filters.

    Whether the dictionaries hold them is not filled in: that takes longer.
    """
    without_file = ExportChoice(choice.what, choice.run, choice.method, choice.selection)
    return _filtered(_key(project, without_file), project, without_file)


def _sets(project: Project) -> CachedSets:
    return CachedSets(project, corpus.read_corpus(project))


def _key(project: Project, choice: ExportChoice) -> tuple[object, ...]:
    """Everything that the content of the file depends on."""
    decided: tuple[int, ...] = ()
    if choice.what == REVIEWED:
        ids = [decision.id for decision in findings.decisions(project)]
        decided = (len(ids), max(ids, default=0))
    gold_key = project.gold_key() if choice.what == GOLD else ""
    return (project.id, project.labels_key(), gold_key, decided, choice)


# ---- the file -------------------------------------------------------------------------------


def is_small(texts: Corpus) -> bool:
    """Return whether the whole file can be made while the page waits."""
    characters = sum(len(document.text) for document in texts.documents)
    return count_entities(texts) <= _MOST_ENTITIES and characters <= _MOST_CHARACTERS


def written(project: Project, choice: ExportChoice) -> WrittenFile:
    """Return the file of a choice; only its beginning if it is large."""
    return _written(_key(project, choice), project, choice)


def whole_file(project: Project, choice: ExportChoice) -> bytes:
    """Return the whole file, verified; InputError if it contradicts the text."""
    made = written(project, choice)
    if made.is_whole:
        return _data_if_true(made, verified(project, choice))
    texts = selected(project, choice)
    made = _write(texts, choice)
    return _data_if_true(made, verify(made.data, choice.format, texts))


def card(project: Project, choice: ExportChoice, command: str) -> bytes:
    """Return the card of the file that a choice gives: what made it, as JSON."""
    ending = FORMATS[choice.format].extensions[0]
    return card_bytes(
        _card(project, choice, command),
        file_name(choice, ending),
        choice.format,
        whole_file(project, choice),
    )


def _card(project: Project, choice: ExportChoice, command: str) -> dict[str, Any]:
    job = jobs.get_job(project, choice.run) if choice.run else None
    return project_card(project, choice, job, filtered(project, choice), command)


def verified(project: Project, choice: ExportChoice) -> Verification:
    """Return what reading the file again has shown; it takes longer than writing."""
    return _verified(_key(project, choice), project, choice)


def _data_if_true(made: WrittenFile, checked: Verification) -> bytes:
    if checked.problem:
        raise InputError(f"this file would be wrong: {checked.problem}")
    return made.data


def first_lines(made: WrittenFile, format: str) -> str:
    """Return the first lines of the file; what is not text is shown as text."""
    if format == "brat":
        text = _inside_zip(made.data)
    elif is_packed(SourceFile(f"file{FORMATS[format].extensions[0]}", made.data)):
        text = _as_json(made.data, format)
    else:
        text = made.data[: PREVIEW_LINES * 20_000].decode("utf-8-sig", "replace")
    lines = text.split("\n")[:PREVIEW_LINES]
    cut = [f"{line[:_LONGEST_LINE]}…" if len(line) > _LONGEST_LINE else line for line in lines]
    return "\n".join(cut)


def _as_json(data: bytes, format: str) -> str:
    """Return the first documents of a file that is not text, read again, as JSON lines."""
    read, out = FORMATS[format].read, BytesIO()
    assert read is not None
    texts = read(SourceFile("file", data, NO_LIMITS), ReadOptions())
    first = replace(texts, documents=texts.documents[:PREVIEW_LINES])
    write = FORMATS["jsonl"].write
    assert write is not None
    write(first, out, WriteOptions())
    return out.getvalue().decode()


def _inside_zip(data: bytes) -> str:
    with zipfile.ZipFile(BytesIO(data)) as archive:
        names = archive.namelist()
        annotations = [name for name in names if name.endswith(".ann")]
        shown = archive.read(annotations[0]).decode("utf-8", "replace") if annotations else ""
    listed = ", ".join(names[:4]) + (f" and {len(names) - 4:,} more" if len(names) > 4 else "")
    return f"{listed}\n\n{annotations[0] if annotations else ''}\n{shown}"


def all_formats(project: Project, choice: ExportChoice, command: str) -> bytes:
    """Return a zip of the chosen set in every format, each verified and with its card."""
    out = BytesIO()
    texts = selected(project, choice)
    origin = _card(project, choice, command)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, format in writable().items():
            if not format.is_installed:
                continue
            options = choice.options if choice.format == name else WriteOptions()
            made = _write(texts, replace(choice, format=name, options=options))
            data = _data_if_true(made, verify(made.data, name, texts))
            path = f"{name}/{file_name(choice, format.extensions[0])}"
            archive.writestr(path, data)
            beside = card_bytes(origin, Path(path).name, name, data)
            archive.writestr(path + CARD_ENDING, beside)
        names = ChosenEntities(texts.entities).types
        archive.writestr("label_studio/labeling-config.xml", view_config(names))
    return out.getvalue()


def writable() -> dict[str, Format]:
    """Return the formats that can be written, by name."""
    return {name: format for name, format in FORMATS.items() if format.write}


def file_name(choice: ExportChoice, ending: str) -> str:
    """Return a name that says what the file holds.

    >>> file_name(ExportChoice(RUN, "20261116-053001-ab12", "conf_mpu"), ".csv")
    'entities-conf_mpu-20261116-053001-ab12.csv'
    """
    parts = {
        RUN: (choice.method, choice.run),
        REVIEWED: ("reviewed", choice.run),
        DICTIONARY: ("dictionary",),
        GOLD: ("gold",),
    }
    return "-".join(("entities", *filter(None, parts[choice.what]))) + ending


def _write(texts: Corpus, choice: ExportChoice) -> WrittenFile:
    out, write = BytesIO(), FORMATS[choice.format].write
    assert write is not None
    report = write(texts, out, choice.options)
    return WrittenFile(out.getvalue(), report.notes)


# ---- caches ---------------------------------------------------------------------------------


@st.cache_resource(max_entries=_KEPT, show_spinner="Collecting the entities")
def _chosen(key: tuple[object, ...], _project: Project, _choice: ExportChoice) -> ChosenEntities:
    job = jobs.get_job(_project, _choice.run) if _choice.run else None
    return choose_entities(_sets(_project), _choice, job)


@st.cache_resource(max_entries=2 * _KEPT, show_spinner=False)
def _types(key: tuple[object, ...], _project: Project, _choice: ExportChoice) -> list[str]:
    return chosen(_project, _choice).types


@st.cache_resource(max_entries=_KEPT, show_spinner="Filtering the entities")
def _filtered(key: tuple[object, ...], _project: Project, _choice: ExportChoice) -> Corpus:
    return filter_entities(_sets(_project), _choice, chosen(_project, _choice))


@st.cache_resource(max_entries=2 * _KEPT, show_spinner="Writing the file")
def _written(key: tuple[object, ...], _project: Project, _choice: ExportChoice) -> WrittenFile:
    texts, sets = filtered(_project, _choice), _sets(_project)
    if is_small(texts):
        return _write(with_known(sets, _choice, texts), _choice)
    annotated = (document for document in texts.documents if texts.entities.get(document.id))
    beginning = tuple(islice(annotated, _PREVIEW_DOCUMENTS))
    part = Corpus(beginning, {d.id: texts.entities[d.id] for d in beginning})
    return replace(_write(with_known(sets, _choice, part), _choice), is_whole=False)


@st.cache_resource(max_entries=2 * _KEPT, show_spinner="Verifying every offset")
def _verified(key: tuple[object, ...], _project: Project, _choice: ExportChoice) -> Verification:
    made = written(_project, _choice)
    return verify(made.data, _choice.format, filtered(_project, _choice))
