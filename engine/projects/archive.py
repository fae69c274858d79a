"""Pack a project's folder as a zip, unpack such a zip, and copy projects."""

import hashlib
import io
import os
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from engine.dictionaries import is_too_long
from engine.files import unzip_to, write_error, written_whole
from engine.projects import store as store
from engine.projects import versions as versions
from engine.projects.connection import DATABASE, parsed
from engine.projects.files import CACHE, DICTIONARIES, GOLD, RUNS, TEXT, records
from engine.projects.job_states import release_jobs
from engine.projects.leftovers import WORKING, sweep_beside
from engine.projects.schema import check_rows
from engine.review import KINDS, decisions_in_force
from engine.run_folder import check_runs, mark_imported
from engine.settings import LIMITS
from engine.system import advance, process_mark
from engine.text import InputError


def pack(folder: Path, path: Path) -> None:
    """Write a project's folder as a zip, whole or not at all, whoever else is writing to it."""
    names = list(_members(folder))
    size = sum((folder / name).stat().st_size for name in names)
    if len(names) >= LIMITS.zip_members or size > LIMITS.project_mb * 1_000_000:
        raise InputError(
            f"the project has {len(names):,} files of {size / 1e6:,.0f} MB together; a zip may "
            f"hold {LIMITS.zip_members:,} and {LIMITS.project_mb:,} MB. Delete old runs, or copy "
            f"the folder {folder} itself"
        )
    sweep_beside(path)
    with written_whole(path) as out, working_folder(folder) as at:
        copy = at / DATABASE
        store.copy_store(folder, copy)
        kind = zipfile.ZIP_DEFLATED
        with zipfile.ZipFile(out, "w", kind, strict_timestamps=False) as archive:
            archive.write(copy, DATABASE)
            for name in names:
                with suppress(FileNotFoundError):  # deleted since it was listed
                    archive.write(folder / name, name)


@contextmanager
def working_folder(folder: Path) -> Iterator[Path]:
    """Make a folder inside a project for a moment; one left by a kill is deleted at a start."""
    prefix = f"{WORKING}{process_mark()}-"
    with tempfile.TemporaryDirectory(dir=folder, prefix=prefix) as path:
        yield Path(path)


def unpack(source: str | Path | bytes, folder: Path, *, is_ours: bool = False) -> None:
    """Unpack a project's zip into an empty folder, after checking it.

    A zip that someone made of the folder works too, with or without the folder's name inside. Its
    jobs are marked as imported, unless the zip is ours: then nobody is asked about their files.
    """
    limits = replace(LIMITS, zip_unpacked_mb=LIMITS.project_mb)
    name = "the zip" if isinstance(source, bytes) else Path(source).name
    try:
        with io.BytesIO(source) if isinstance(source, bytes) else open(source, "rb") as stream:
            unzip_to(stream, folder, name=name, limits=limits)
    except OSError as error:
        raise InputError(f"{source!s} cannot be read: {error.strerror or error}") from error
    _lift(folder)
    if not (folder / DATABASE).is_file():
        raise InputError(f"{name} is no project of Glossa: it holds no {DATABASE}")
    # Caches are made again: a stranger's might show another text than the originals.
    shutil.rmtree(folder / CACHE, ignore_errors=True)
    (folder / f"{DATABASE}-shm").unlink(missing_ok=True)
    _check_folders(folder, name)
    try:
        store.check_store(folder)
    except InputError as error:
        if not str(error).startswith(f"{folder.name}/"):
            raise
        raise InputError(
            f"{name}: {DATABASE} is damaged or no project of Glossa. Download the project again"
        ) from error
    check_rows(folder, name)
    _check(folder, name)
    _check_phrases(folder, name)
    _check_files(folder, name)
    _check_runs(folder, name)
    if not is_ours:
        _mark_jobs(folder)


def copy_project(folder: Path, target: Path) -> None:
    """Copy a project's folder into an empty one."""
    store.copy_store(folder, target / DATABASE)
    try:
        for name in _members(folder):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # deleted since it was listed
                shutil.copyfile(folder / name, target / name)
    except OSError as error:
        raise write_error(target, error) from error
    _check(target, folder.name)


def _check(folder: Path, name: str) -> None:
    """Check that a copied project is whole, and mark its active jobs as interrupted."""
    store.check_store(folder)
    try:
        with store.writing(folder) as db:
            files = [*records(db, TEXT), *records(db, GOLD)]
            missing = [file for file in files if not (folder / file.path).is_file()]
            _read_rows(db)
            release_jobs(db)
            saved = versions.history(db)
        for version in saved:
            versions.load(folder, version.version)
    except InputError:
        raise
    except (ValueError, TypeError, AttributeError, RecursionError, sqlite3.Error) as error:
        raise InputError(f"{name}: {DATABASE} holds what no project holds ({error})") from error
    if missing:
        raise InputError(
            f'{name} lacks "{missing[0].path}", the file {missing[0].name}. '
            "Download the project again"
        )


def _check_phrases(folder: Path, name: str) -> None:
    """Raise InputError for a phrase that no file of phrases can bring: it costs minutes."""
    with store.reading(folder) as db:
        saved = versions.history(db)
    for version in saved:
        for dictionary in versions.load(folder, version.version):
            if any(is_too_long(phrase.text) for phrase in dictionary.phrases):
                raise InputError(
                    f'{name}: a phrase of "{dictionary.name}" has more tokens than a sentence. '
                    "Take it out of the project, and download it again"
                )


def _check_files(folder: Path, name: str) -> None:
    """Raise InputError if a text or gold file is not the one that was stored."""
    with store.reading(folder) as db:
        files = [*records(db, TEXT), *records(db, GOLD)]
    for file in files:
        advance(0)
        try:
            with open(folder / file.path, "rb") as stored:
                content = hashlib.file_digest(stored, "sha256").hexdigest()
        except OSError as error:
            raise InputError(f"{name}: {file.path} cannot be read: {error.strerror}") from error
        if content != file.sha256:
            raise InputError(
                f"{name}: {file.path} is not the file that was stored as {file.name}. "
                "Download the project again"
            )


def _check_folders(folder: Path, name: str) -> None:
    """Raise InputError if a file stands where a project has a folder."""
    for inside in (TEXT, GOLD, RUNS, DICTIONARIES):
        if (folder / inside).is_file():
            raise InputError(
                f'{name}: "{inside}" is a file, but a project has a folder of this name. '
                "Download the project again"
            )


def _check_runs(folder: Path, name: str) -> None:
    """Raise InputError if a file of a run or a prediction is not as we write it."""
    for job in sorted((folder / RUNS).glob("*")):
        advance(0)
        try:
            check_runs(job, _tokens_of(folder, job.name))
        except InputError as error:
            reason = str(error).replace(f"{folder}/", "").partition(". ")[0]
            raise InputError(
                f"{name}: {reason}. Download the project again, or take {RUNS}/{job.name} out of "
                "the zip"
            ) from error


def _tokens_of(folder: Path, id: str) -> set[int]:
    """Return how many tokens a job's text may have had; nothing if there is no way to know.

    A file counts the tokens of the day it was added, and another Glossa may have split it
    otherwise; the histogram of confidences counts those of the run.
    """
    with store.reading(folder) as db:
        job = db.execute("SELECT text_key FROM jobs WHERE id = ?", (id,)).fetchone()
        query = "SELECT value FROM job_facts WHERE job = ? AND key = 'confidence_histogram'"
        histogram = db.execute(query, (id,)).fetchone()
        lengths = set()
        if job and job[0] == store.fact(db, "text_key"):
            lengths.add(sum(file.tokens for file in records(db, TEXT)))
        if histogram:
            rows = parsed(histogram[0], f"confidence_histogram of job {id}")
            lengths.add(sum(row["labeled"] + row["unlabeled"] for row in rows))
    return lengths


def _mark_jobs(folder: Path) -> None:
    """Note which jobs were imported, so that the user is asked before they use other files."""
    with store.reading(folder) as db:
        ids = {str(id) for [id] in db.execute("SELECT id FROM jobs")}
    try:
        # A job without a folder is marked too: it could be resumed. So is a folder without a job.
        for id in ids | {path.name for path in (folder / RUNS).glob("*") if path.is_dir()}:
            mark_imported(folder / RUNS / id)
    except OSError as error:
        raise write_error(folder, error) from error


def _read_rows(db: sqlite3.Connection) -> None:
    """Read what pages will read, so that a bad row is found now and not later."""
    for kind in KINDS:
        decisions_in_force(db, kind)
    for [key] in db.execute("SELECT key FROM choices").fetchall():
        store.choice(db, key)
    versions.history(db)


def _lift(folder: Path) -> None:
    """Move everything up by one level when the zip holds a single folder."""
    inside = list(folder.iterdir())
    if len(inside) == 1 and (inside[0] / DATABASE).is_file():
        for path in list(inside[0].iterdir()):
            path.rename(folder / path.name)
        inside[0].rmdir()


def _members(folder: Path) -> Iterator[str]:
    """The files of a project without its database and caches: nothing hidden, no links."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if Path(parent) == folder:
            folders[:] = [name for name in folders if name != CACHE]
            names = [name for name in names if not name.startswith(DATABASE)]
        for name in sorted(names):
            path = Path(parent, name)
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                yield path.relative_to(folder).as_posix()
