"""What is exported: a set of entities, filtered, as the bytes of a file that were verified.

Files are made once for each choice and kept by the content they came from; downloads that may be
large are made when they are asked for.
"""

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import islice

import streamlit as st

import engine
from engine import WriteOptions, jobs
from engine.enrichment import mark_known
from engine.formats import Format
from engine.formats.label_studio import view_config
from engine.jobs import Job
from engine.project import Project
from engine.selection import Selection, select
from engine.text import EntitiesByDocument
from engine.verification import Verification, verify
from ui.state import corpus, findings

RUN, DICTIONARY, REVIEWED, GOLD = "run", "dictionary", "reviewed", "gold"
PREVIEW_LINES = 10
_PLAIN = WriteOptions()
_LONGEST_LINE = 400  # characters of a line in the preview
_KEPT = 4
# Up to here a file is made and verified for the page itself; a larger one when it is downloaded.
_MOST_ENTITIES, _MOST_CHARACTERS = 20_000, 400_000
_PREVIEW_DOCUMENTS = 5


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person wants to take along."""

    what: str  # RUN, DICTIONARY, REVIEWED or GOLD
    run: str = ""  # job id
    method: str = ""
    types: tuple[str, ...] = ()  # none = all
    least_score: float = 0.0  # entities without a score stay
    words: str = ""  # in the document's id
    format: str = "entities"
    options: WriteOptions = _PLAIN


@dataclass(frozen=True, slots=True)
class Written:
    """A file in memory, and what was changed to write it."""

    data: bytes
    notes: Sequence[str]
    is_whole: bool = True  # else only the beginning was written, to be looked at


# ---- which entities -------------------------------------------------------------------------


def available(project: Project) -> list[str]:
    """Return what there is to export, the most finished first."""
    has_run = bool(findings.runs(project))
    has_dictionary = bool(project.dictionary_version())
    found = [RUN] if has_run else []
    found += [REVIEWED] if findings.decisions(project) else []
    found += [DICTIONARY] if has_dictionary else []
    return found + ([GOLD] if gold(project) else [])


def gold(project: Project) -> EntitiesByDocument:
    """Return the gold, nothing where there is none or it cannot be read."""
    try:
        aligned = corpus.gold(project)
    except engine.InputError:  # the page Text says it
        return {}
    return aligned.entities if aligned else {}


def entities(project: Project, choice: Choice) -> EntitiesByDocument:
    """Return the chosen set, not filtered."""
    job = _job(project, choice)
    if choice.what == GOLD:
        return gold(project)
    if choice.what == DICTIONARY:
        return findings.matched(project)
    if choice.what == REVIEWED:
        return findings.reviewed(project, job, choice.method)
    assert job is not None
    return findings.found(project, job, choice.method)


def types(project: Project, choice: Choice) -> list[str]:
    """Return the types of the chosen set."""
    whole = replace(choice, types=(), least_score=0.0, words="")
    return _types(_key(project, whole), project, whole)


def selected(project: Project, choice: Choice) -> engine.Corpus:
    """Return the documents and entities that the filters let through."""
    return _with_known(project, choice, filtered(project, choice))


def filtered(project: Project, choice: Choice) -> engine.Corpus:
    """Return the same, without a word on whether the dictionaries hold them: that takes longer."""
    chosen = replace(choice, format="", options=_PLAIN)
    return _filtered(_key(project, chosen), project, chosen)


def count(of: engine.Corpus) -> int:
    """Return how many entities there are."""
    return sum(map(len, of.entities.values()))


def _job(project: Project, choice: Choice) -> Job | None:
    return jobs.get_job(project, choice.run) if choice.run else None


def _key(project: Project, choice: Choice) -> tuple[object, ...]:
    """All that the file follows from."""
    decided: tuple[int, ...] = ()
    if choice.what == REVIEWED:
        ids = [decision.id for decision in findings.decisions(project)]
        decided = (len(ids), max(ids, default=0))
    golden = project.gold_key() if choice.what == GOLD else ""
    return (project.id, project.labels_key(), golden, decided, choice)


# ---- the file -------------------------------------------------------------------------------


def is_small(of: engine.Corpus) -> bool:
    """Return whether the whole file can be made while the page waits."""
    characters = sum(len(document.text) for document in of.documents)
    return count(of) <= _MOST_ENTITIES and characters <= _MOST_CHARACTERS


def written(project: Project, choice: Choice) -> Written:
    """Return the file of a choice, or of a large one its beginning only."""
    return _written(_key(project, choice), project, choice)


def whole_file(project: Project, choice: Choice) -> bytes:
    """Return all of the file, verified; InputError when it does not say what the text says."""
    made = written(project, choice)
    if made.is_whole:
        return _true(made, verified(project, choice))
    of = selected(project, choice)
    made = _write(of, choice)
    return _true(made, verify(made.data, choice.format, of))


def verified(project: Project, choice: Choice) -> Verification:
    """Return what reading the file of a choice again has shown; it takes longer than writing."""
    return _verified(_key(project, choice), project, choice)


def _true(made: Written, checked: Verification) -> bytes:
    if checked.problem:
        raise engine.InputError(f"this file would be wrong: {checked.problem}")
    return made.data


def first_lines(made: Written, format: str) -> str:
    """Return the beginning of the file as text; of an archive, its list and its first entities."""
    if format == "brat":
        text = _inside_zip(made.data)
    else:
        text = made.data[: PREVIEW_LINES * 20_000].decode("utf-8-sig", "replace")
    lines = text.split("\n")[:PREVIEW_LINES]
    cut = [f"{line[:_LONGEST_LINE]}…" if len(line) > _LONGEST_LINE else line for line in lines]
    return "\n".join(cut)


def _inside_zip(data: bytes) -> str:
    with zipfile.ZipFile(BytesIO(data)) as archive:
        names = archive.namelist()
        annotations = [name for name in names if name.endswith(".ann")]
        shown = archive.read(annotations[0]).decode("utf-8", "replace") if annotations else ""
    listed = ", ".join(names[:4]) + (f" and {len(names) - 4:,} more" if len(names) > 4 else "")
    return f"{listed}\n\n{annotations[0] if annotations else ''}\n{shown}"


def all_formats(project: Project, choice: Choice) -> bytes:
    """Return a zip of the chosen set in every format, each verified."""
    out = BytesIO()
    of = selected(project, choice)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, format in writable().items():
            options = choice.options if choice.format == name else _PLAIN
            made = _write(of, replace(choice, format=name, options=options))
            data = _true(made, verify(made.data, name, of))
            archive.writestr(f"{name}/{file_name(choice, format.extensions[0])}", data)
        named = sorted({e.entity_type for found in of.entities.values() for e in found})
        archive.writestr("label_studio/labeling-config.xml", view_config(named))
    return out.getvalue()


def writable() -> dict[str, Format]:
    """Return the formats that can be written, by name."""
    return {name: format for name, format in engine.FORMATS.items() if format.write}


def file_name(choice: Choice, ending: str) -> str:
    """Return a name that says what the file holds.

    >>> file_name(Choice(RUN, "20261116-053001-ab12", "conf_mpu"), ".csv")
    'entities-conf_mpu-20261116-053001-ab12.csv'
    """
    parts = {
        RUN: (choice.method, choice.run),
        REVIEWED: ("reviewed", choice.run),
        DICTIONARY: ("dictionary",),
        GOLD: ("gold",),
    }
    return "-".join(("entities", *filter(None, parts[choice.what]))) + ending


def _write(of: engine.Corpus, choice: Choice) -> Written:
    out, write = BytesIO(), engine.FORMATS[choice.format].write
    assert write is not None
    report = write(of, out, choice.options)
    return Written(out.getvalue(), report.notes)


# ---- caches ---------------------------------------------------------------------------------


@st.cache_resource(max_entries=2 * _KEPT, show_spinner=False)
def _types(key: tuple[object, ...], _project: Project, _choice: Choice) -> list[str]:
    found = entities(_project, _choice)
    return sorted({entity.entity_type for of in found.values() for entity in of})


@st.cache_resource(max_entries=_KEPT, show_spinner="Choosing entities")
def _filtered(key: tuple[object, ...], _project: Project, _choice: Choice) -> engine.Corpus:
    return select(
        corpus.read_corpus(_project).documents,
        entities(_project, _choice),
        Selection(_choice.types, _choice.least_score, _choice.words),
        only_annotated=_choice.what == GOLD,
    )


def _with_known(project: Project, choice: Choice, of: engine.Corpus) -> engine.Corpus:
    """The corpus with what is not said yet: whether the dictionaries hold an entity's words."""
    is_open = any(e.in_dictionary is None for found in of.entities.values() for e in found)
    if choice.what not in (RUN, REVIEWED) or not is_open:
        return of
    return replace(of, entities=mark_known(of.documents, of.entities, findings.known(project)))


@st.cache_resource(max_entries=2 * _KEPT, show_spinner="Writing the file")
def _written(key: tuple[object, ...], _project: Project, _choice: Choice) -> Written:
    of = filtered(_project, _choice)
    if is_small(of):
        return _write(_with_known(_project, _choice, of), _choice)
    first = (document for document in of.documents if of.entities.get(document.id))
    beginning = tuple(islice(first, _PREVIEW_DOCUMENTS))
    part = engine.Corpus(beginning, {d.id: of.entities[d.id] for d in beginning})
    return replace(_write(_with_known(_project, _choice, part), _choice), is_whole=False)


@st.cache_resource(max_entries=2 * _KEPT, show_spinner="Verifying every offset")
def _verified(key: tuple[object, ...], _project: Project, _choice: Choice) -> Verification:
    made = written(_project, _choice)
    return verify(made.data, _choice.format, filtered(_project, _choice))
