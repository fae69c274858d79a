"""What is done with a mutated file, as a user would: read it, write it, import it, open it."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from random import Random
from unittest.mock import patch

from engine import jobs
from engine.dictionaries.audit import audit_dictionaries
from engine.dictionaries.reading import read_dictionaries
from engine.export.dictionary_writing import write_patterns, write_phrases
from engine.files.sources import SourceFile, path_source
from engine.files.writing import written_whole
from engine.formats.alignment import align, gold_of
from engine.formats.catalog import FORMATS
from engine.formats.contract import WriteOptions
from engine.formats.detection import column_names
from engine.formats.reading import read_corpus
from engine.formats.streaming import stream_sources
from engine.formats.writing import write_corpus
from engine.labels.distant import label
from engine.projects.project import Project
from engine.projects.workspace import import_project_zip, list_projects, open_project
from engine.review import KINDS
from engine.run_folder.card import read_card
from engine.run_folder.predictions import read_entities, read_marks
from engine.settings import ReadOptions
from engine.text.model import InputError
from tests.fuzz.seeds import PROJECT, corpus, dictionaries, project_files

# A target gets the file's name, its bytes, the case's folder and random numbers. It yields the
# notes it was given. It writes to folder/out (one file, complete) and folder/data (projects).
Target = Callable[[str, bytes, Path, Random], Iterable[str]]

_WRITABLE = sorted(name for name, format in FORMATS.items() if format.write)
_ENCODINGS = (
    "utf-8", "utf-16", "windows-1252", "shift_jis", "utf-7", "unicode_escape", "raw_unicode_escape",
    "punycode", "hex", "x\ny" * 200, "cp037", "iso2022_jp", "utf-8-sig", "utf-32", "hz",
)  # fmt: skip
# Only reading all text shows whether gold fits it, which is too slow for an import.
_UNFIT = "annotates none of these documents"
_COLUMNS = ("text", "id", "label", "doc_id", "nothing\nlike it" * 50)


class Disagreement(Exception):
    """The same file was read in one way and refused in another."""


def _options(random: Random) -> ReadOptions:
    return ReadOptions(
        text_column=random.choice(_COLUMNS) if random.random() < 0.1 else None,
        id_column=random.choice(_COLUMNS) if random.random() < 0.1 else None,
        lines_are_documents=random.random() < 0.2,
        encoding=random.choice(_ENCODINGS) if random.random() < 0.2 else None,
        skip_bad_lines=random.random() < 0.5,
    )


# ---- text -----------------------------------------------------------------------------------


def read_text(name: str, data: bytes, folder: Path, random: Random) -> Iterable[str]:
    """Read a file in memory and from disk, and write what it holds in another format."""
    options, format = _options(random), random.choice(_WRITABLE)
    known = random.choice([*FORMATS, None]) if random.random() < 0.15 else None
    path = folder / "in" / f"given{Path(name).suffix}"
    path.write_bytes(data)
    outcome: InputError | None = None
    with suppress(InputError):  # as a page does to offer columns; an archive has none
        column_names(SourceFile(name, data), options)
    try:
        read = read_corpus([SourceFile(name, data)], options, known)
    except InputError as error:
        outcome = error
    if known is None:
        _read_from_disk(path, name, options, None if outcome else len(read.documents))
    if outcome:
        raise outcome
    yield from (note for report in read.files for note in report.notes)
    wrote = WriteOptions(random.random() < 0.3, random.random() < 0.3, random.random() < 0.3)
    yield from write_corpus(read, folder / "out" / "written", format, wrote).notes


def _read_from_disk(path: Path, name: str, options: ReadOptions, count: int | None) -> None:
    """Read documents one by one; they are as many as in memory, and refused files are refused."""
    try:
        found = sum(1 for _ in stream_sources([path_source(path, name=name)], options))
    except InputError:
        found = None
    if found != count:
        raise Disagreement(f"{count} documents in memory, {found} from the disk")


def read_gold(name: str, data: bytes, folder: Path, random: Random) -> Iterable[str]:
    """Read annotations, and place them in the documents they were made for."""
    annotated = gold_of(read_corpus([SourceFile(name, data)], _options(random)))
    yield from align(corpus().documents, annotated).notes


# ---- dictionaries ---------------------------------------------------------------------------


def read_phrases(name: str, data: bytes, folder: Path, random: Random) -> Iterable[str]:
    """Read a dictionary, check it, match it, and write it."""
    entity_type = random.choice((None, None, "Disease", " ", "a\nb"))
    read = read_dictionaries([SourceFile(name, data)], _options(random), entity_type)
    for dictionary in read:
        yield from dictionary.notes
        assert dictionary.fingerprint
    audit_dictionaries(read)
    if random.random() < 0.3:
        label(corpus().documents, [*read, *dictionaries()], random.choice(("adaptive", "loose")))
    with written_whole(folder / "out" / "written") as out:
        if random.random() < 0.5:
            write_phrases(read, out, WriteOptions(excel=random.random() < 0.5))
        else:
            write_patterns(read, out)


# ---- projects -------------------------------------------------------------------------------


def import_zip(name: str, data: bytes, folder: Path, random: Random) -> Iterable[str]:
    """Import a project's zip, and look at all of it."""
    with patch.dict(os.environ, {"GLOSSA_DATA": str(folder / "data")}):
        project = import_project_zip(data)
        try:
            _look_at(project)
        except InputError as error:
            if _UNFIT in str(error):
                return (str(error),)
            raise Disagreement(f"imported, and refused when it is opened: {error}") from error
    return ()


def open_database(name: str, data: bytes, folder: Path, random: Random) -> Iterable[str]:
    """Open a project whose database was changed, and look at all of it."""
    _put_project(folder, {"project.db": data})
    with patch.dict(os.environ, {"GLOSSA_DATA": str(folder / "data")}):
        notes = [summary.problem for summary in list_projects()]
        _look_at(open_project(PROJECT))
    return notes


def open_run(name: str, data: bytes, folder: Path, random: Random) -> Iterable[str]:
    """Open a run whose card or predictions were changed."""
    path = folder / "in" / name
    path.write_bytes(data)
    if name == "run.json":
        read_card(path.parent)
    else:
        read_entities(path)
        read_marks(path)
    return ()


def _put_project(folder: Path, changed: dict[str, bytes]) -> None:
    for name, data in {**project_files(), **changed}.items():
        path = folder / "data" / PROJECT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _look_at(project: Project) -> None:
    """Do what pages do with a project when they are opened."""
    assert list_projects()
    documents = project.corpus()
    project.gold(documents)
    project.dictionaries()
    project.dictionary_history()
    project.labels_key()
    project.choice("preset")
    project.review_effect(documents.documents)
    for kind in KINDS:
        project.decisions(kind)
    for job in jobs.list_jobs(project):
        jobs.stages(project, job.id)
        jobs.epochs(project, job.id)
        jobs.priors_of(project, job.id)
        jobs.job_notes(project, job.id)
        jobs.curve_points(project, job.id)
        jobs.curve_cells(project, job.id)
        jobs.log_tail(project, job.id)
        jobs.results(project, job.id)
        jobs.stored_request(job)


TARGETS: dict[str, Target] = {
    "text": read_text,
    "gold": read_gold,
    "dictionary": read_phrases,
    "project zip": import_zip,
    "database": open_database,
    "run folder": open_run,
}
