"""List, create, open, share, copy, zip and delete the projects in the data folder.

Where people sign in, `user` is the address of who asks: projects of others are to them as if they
were not there. Without it (the command line, a shared password) all projects are everyone's.
"""

import os
import re
import secrets
import shutil
import sqlite3
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from engine.files import write_error
from engine.projects import ownership
from engine.projects import store as store
from engine.projects.archive import copy_project, pack, unpack, working_folder
from engine.projects.connection import DatabaseState, damaged, database_state
from engine.projects.job_states import has_live_job, last_job
from engine.projects.leftovers import DELETED, NEW, sweep_data, sweep_half_made, sweep_project
from engine.projects.project import Project, clean_project_name
from engine.projects.sample import fill_sample, unpack_sample
from engine.system import moment, process_mark
from engine.text import InputError, one_line

SAMPLE_ID = "sample"
_ID = re.compile("[a-z0-9-]{4,40}")
_FRESH_SECONDS = 10.0  # the size of a folder may change while its database does not
_MOST_SUMMARIES = 1_000


@dataclass(frozen=True, slots=True)
class ProjectSummary:
    """One project in the list of projects."""

    id: str
    name: str
    modified: datetime  # UTC
    documents: int = 0
    sentences: int = 0
    tokens: int = 0
    dictionaries: int = 0
    phrases: int = 0
    last_job: str = ""  # kind and state, e.g. "train done"
    bytes: int = 0
    problem: str = ""  # why it cannot be opened
    owner: str = ""  # "": it belongs to everyone
    guests: tuple[str, ...] = ()  # whom the owner shares it with


def data_folder() -> Path:
    """Return the folder of all projects (GLOSSA_DATA, else ./data); make it if needed."""
    folder = Path(os.environ.get("GLOSSA_DATA") or "data").absolute()
    try:
        if not folder.is_dir():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"the data folder {folder} cannot be made: {error.strerror or error}. "
            "Set GLOSSA_DATA to a folder that can be written"
        ) from error
    return folder


def keep_private() -> None:
    """Let only this account read the data folder, and whatever this process writes from now on."""
    os.umask(0o077)
    with suppress(OSError):  # not ours to change: then its owner decides
        data_folder().chmod(0o700)


def list_projects(user: str | None = None) -> list[ProjectSummary]:
    """Return the user's projects, newest first; those that cannot be read say why.

    A user who signed in does not see the latter: nobody can tell whose they are.
    """
    with os.scandir(data_folder()) as entries:
        summaries = [
            _summary(Project(entry.name, Path(entry.path)))
            for entry in entries
            if _ID.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
        ]
    if user is not None:
        summaries = [s for s in summaries if not s.problem and _is_for(s, user)]
    return sorted(summaries, key=lambda summary: (summary.modified, summary.id), reverse=True)


def _is_for(summary: ProjectSummary, user: str) -> bool:
    return not summary.owner or user == summary.owner or user in summary.guests


def create_project(name: str, owner: str | None = None) -> Project:
    """Make an empty project; without an owner it is everyone's."""
    name = clean_project_name(name)
    with _new_folder() as folder:
        store.make_store(folder, name)
        _give_to(folder, owner)
        return _settled(folder, _new_id(name))


def open_project(project_id: str, user: str | None = None) -> Project:
    """Return an existing project; InputError when it cannot be read, or is not this user's."""
    project = _located(project_id)
    with project.reading() as db:
        if not ownership.may_open(db, user):
            raise _unknown(project_id)
        return project


def sample_project() -> Project:
    """Return the sample project; the first call makes it, with the results that ship."""
    return _sample(unpack_sample)


def untrained_sample() -> Project:
    """Return the sample project; the first call makes it without results, from its text alone."""

    def fill(project: Project) -> None:
        store.make_store(project.folder, "Sample: medical abstracts")
        fill_sample(project)

    return _sample(fill)


def _sample(fill: Callable[[Project], None]) -> Project:
    if not os.path.lexists(data_folder() / SAMPLE_ID):
        with _new_folder() as folder:
            fill(Project(SAMPLE_ID, folder))
            # Of two first visitors at once, one uses what the other made.
            with suppress(FileExistsError):
                return _settled(folder, SAMPLE_ID)
    return open_project(SAMPLE_ID)


def reset_sample() -> Project:
    """Make the sample project again, as it ships; what was changed and trained in it is lost."""
    if os.path.lexists(data_folder() / SAMPLE_ID):
        delete_project(SAMPLE_ID)
    return sample_project()


def duplicate_project(project_id: str, name: str, user: str | None = None) -> Project:
    """Copy a project, with its runs and decisions, under a new name; the copy is the user's."""
    project, name = open_project(project_id, user), clean_project_name(name)
    with _new_folder() as folder:
        copy_project(project.folder, folder)
        _give_to(folder, user)
        Project("copy", folder).rename(name)
        return _settled(folder, _new_id(name))


def share_project(project_id: str, address: str, user: str | None = None) -> None:
    """Let the person with this address open and change a project that has an owner."""
    with _managed(project_id, user).writing() as db:
        if not ownership.owner_of(db):
            raise InputError("this project has no owner, so everyone who signs in sees it already")
        ownership.add_guest(db, address)


def unshare_project(project_id: str, address: str, user: str | None = None) -> None:
    """Stop sharing a project with this address."""
    with _managed(project_id, user).writing() as db:
        ownership.remove_guest(db, address)


def claim_project(project_id: str, user: str) -> None:
    """Make a project that has no owner the user's own."""
    if project_id == SAMPLE_ID:
        raise InputError("the sample project belongs to everyone. Duplicate it to have your own")
    with _managed(project_id, user).writing() as db:
        ownership.set_owner(db, user)


def delete_project(project_id: str, user: str | None = None) -> None:
    """Delete a project's folder and everything in it; an active job must be ended first."""
    project = _located(project_id) if user is None else _managed(project_id, user)
    if _is_busy(project):
        raise InputError("a job of this project is at work. Cancel it, then delete the project")
    # Rename it first: so it is gone at once and whole, even if deleting files fails.
    grave = data_folder() / f"{DELETED}{secrets.token_hex(6)}"
    try:
        project.folder.rename(grave)
    except OSError as error:
        raise InputError(f"the project cannot be deleted: {error.strerror or error}") from error
    shutil.rmtree(grave, ignore_errors=True)


def write_project_zip(project: Project, path: str | Path) -> None:
    """Write a project as one zip that `import_project_zip` reads, here or elsewhere."""
    pack(project.folder, Path(path))


def zipped_project(project: Project) -> bytes:
    """Return a project as the bytes of such a zip."""
    try:
        with working_folder(project.folder) as folder:
            pack(project.folder, folder / "project.zip")
            return (folder / "project.zip").read_bytes()
    except OSError as error:
        raise write_error(project.folder, error) from error


def sweep_leftovers(project: Project | None = None) -> None:
    """Delete what killed processes left half written: in one project, or in all."""
    if project is None:
        sweep_data(data_folder())
    else:
        sweep_project(project.folder)


def import_project_zip(source: str | Path | bytes, owner: str | None = None) -> Project:
    """Make a project from a zip; its members are checked, and nothing in it is executed.

    Owners and guests named in the zip are those of another server: the owner here is `owner`.
    """
    with _new_folder() as folder:
        unpack(source, folder)
        _give_to(folder, owner)
        project = Project("import", folder)
        project.rename(project.name)
        return _settled(folder, _new_id(project.name))


# ---- folders --------------------------------------------------------------------------------


def _located(project_id: str) -> Project:
    """The project of an id from an address: it must be a real folder in the data folder."""
    if not isinstance(project_id, str) or not _ID.fullmatch(project_id):
        raise InputError("that is no project id. Choose a project from the list")
    folder = data_folder() / project_id
    if folder.is_symlink() or not folder.is_dir():
        raise _unknown(project_id)
    return Project(project_id, folder)


def _unknown(project_id: str) -> InputError:
    """The error for a project that is not there, or is someone else's: nobody can tell which."""
    return InputError(f'there is no project "{project_id}". Choose one from the list')


def _managed(project_id: str, user: str | None) -> Project:
    """The project, if the user may share and delete it."""
    project = open_project(project_id, user)
    with project.reading() as db:
        if not ownership.may_manage(db, user):
            owner = ownership.owner_of(db)
            raise InputError(f"only the owner of this project, {owner}, can do that")
    return project


def _give_to(folder: Path, owner: str | None) -> None:
    with store.writing(folder) as db:
        ownership.set_owner(db, owner)


@contextmanager
def _new_folder() -> Iterator[Path]:
    """A folder for a project in the making; deleted at the end unless it was settled."""
    sweep_half_made(data_folder())
    folder = new_place()
    try:
        folder.mkdir()
    except OSError as error:
        raise write_error(folder, error) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def new_place() -> Path:
    """Return the path of a folder that can be made in the data folder, and is no project.

    It is swept once this process has ended.
    """
    return data_folder() / f"{NEW}{process_mark()}-{secrets.token_hex(6)}"


def _settled(folder: Path, project_id: str) -> Project:
    """Move a finished folder to its place by renaming, so that it appears whole."""
    target = folder.parent / project_id
    try:
        folder.rename(target)
    except OSError as error:
        if os.path.lexists(target):
            raise FileExistsError(project_id) from error
        raise write_error(target, error) from error
    return Project(project_id, target)


def _new_id(name: str) -> str:
    """A new id made from the project's name, so that addresses can be read."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub("[^a-z0-9]+", "-", plain).strip("-")[:30].strip("-") or "project"
    while True:
        project_id = f"{slug}-{secrets.token_hex(2)}"
        if not os.path.lexists(data_folder() / project_id):
            return project_id


# ---- the list -------------------------------------------------------------------------------


_summaries: dict[Path, tuple[DatabaseState, float, ProjectSummary]] = {}


def _summary(project: Project) -> ProjectSummary:
    """The project's row in the list; read again only after a change, or after some seconds."""
    state = database_state(project.folder)
    kept = _summaries.get(project.folder)
    if kept is not None and kept[0] == state and time.monotonic() - kept[1] < _FRESH_SECONDS:
        return kept[2]
    summary = _read_summary(project)
    if state is not None:
        if len(_summaries) >= _MOST_SUMMARIES:
            _summaries.clear()
        _summaries[project.folder] = (state, time.monotonic(), summary)
    return summary


def _read_summary(project: Project) -> ProjectSummary:
    try:
        with project.reading() as db:
            documents, sentences, tokens = db.execute(
                "SELECT coalesce(sum(documents), 0), coalesce(sum(sentences), 0), "
                "coalesce(sum(tokens), 0) FROM files WHERE role = 'text'"
            ).fetchone()
            latest = db.execute(
                "SELECT dictionaries, phrases FROM dictionary_versions ORDER BY version DESC"
            ).fetchone()
            return ProjectSummary(
                id=project.id,
                name=store.fact(db, "name", project.id),
                modified=moment(store.fact(db, "modified")),
                documents=documents,
                sentences=sentences,
                tokens=tokens,
                dictionaries=int(latest["dictionaries"]) if latest else 0,
                phrases=int(latest["phrases"]) if latest else 0,
                last_job=last_job(db),
                bytes=project.size(),
                owner=ownership.owner_of(db),
                guests=ownership.guests_of(db),
            )
    # Whatever is wrong with one project, the others must still be listed.
    except (InputError, sqlite3.Error, OSError, ValueError, TypeError, ArithmeticError) as error:
        at = _changed_at(project.folder)
        is_clear = isinstance(error, InputError | OSError)
        problem = one_line(str(error) if is_clear else damaged(project.folder))
        return ProjectSummary(project.id, project.id, at, problem=problem)


def _is_busy(project: Project) -> bool:
    try:
        with project.reading() as db:
            return has_live_job(db)
    except (InputError, sqlite3.Error):  # what cannot be read can still be deleted
        return False


def _changed_at(path: Path) -> datetime:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return datetime.fromtimestamp(0, UTC)
