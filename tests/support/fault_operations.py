"""What people do with a project, one step at a time, and a check that no step is half there.

An operation's `step` does one more; `count` returns how many are stored, and fails when anything is
torn. A process may be killed in the middle of a step: then it is there or it is not.
"""

import hashlib
import sqlite3
import zipfile
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from engine.dictionaries.editing import PhraseRow
from engine.files.sources import SourceFile
from engine.projects.project import Project
from engine.projects.workspace import (
    create_project,
    data_folder,
    import_project_zip,
    list_projects,
    open_project,
    write_project_zip,
)

PHRASES = 3_000
_TEXT = "Aspirin helps against headache and drug 7. "


def make_project() -> Project:
    """Return a project with a text of its own and many phrases."""
    project = create_project("Faults")
    project.add_text([SourceFile("first.txt", (_TEXT * 50).encode())])
    phrases = "\n".join(f"drug {i}" for i in range(PHRASES)).encode()
    project.add_dictionaries([SourceFile("Drug.txt", phrases)])
    return project


def check_whole(project: Project) -> None:
    """Fail unless the project opens, its database is sound and its files are those it names."""
    open_project(project.id)
    with closing(sqlite3.connect(project.folder / "project.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    for file in project.text_files():
        data = (project.folder / file.path).read_bytes()
        assert hashlib.sha256(data).hexdigest() == file.sha256
    documents = project.corpus().documents
    assert len(documents) == sum(file.documents for file in project.text_files())
    assert len(project.dictionaries_at(project.dictionary_version())) == 1


@dataclass
class Save:
    """Add a text file."""

    project: Project

    def step(self) -> None:
        number = self.count()
        self.project.add_text([SourceFile(f"{number}.txt", f"{number} {_TEXT * 50}".encode())])

    def count(self) -> int:
        files = self.project.text_files()
        assert [file.name for file in files[1:]] == [f"{i}.txt" for i in range(len(files) - 1)]
        return len(files) - 1


@dataclass
class Mute:
    """Mute one phrase after another."""

    project: Project

    def step(self) -> None:
        self.project.mute_phrases([PhraseRow("Drug.txt", f"drug {self.count()}", "Drug")])

    def count(self) -> int:
        [dictionary] = self.project.dictionaries()
        muted = {text for text, _ in dictionary.muted}
        assert muted == {f"drug {i}" for i in range(len(muted))}
        history = self.project.dictionary_history()
        assert [version.version for version in history] == list(range(len(history), 0, -1))
        assert len(history) == len(muted) + 1
        return len(muted)


@dataclass
class Decide:
    """Decide on three entities at once."""

    project: Project

    def step(self) -> None:
        from engine.review.decisions import Decision

        start = 3 * self.count()
        places = [(start + i, start + i + 1) for i in range(3)]
        self.project.add_decisions(
            [Decision(0, "review", "first", *place, "Drug", "accepted") for place in places]
        )

    def count(self) -> int:
        starts = [decision.start for decision in self.project.decisions("review")]
        assert starts == list(range(len(starts)))
        assert len(starts) % 3 == 0
        return len(starts) // 3


@dataclass
class Import:
    """Import a project's zip."""

    project: Project
    source: Path = field(init=False)

    def __post_init__(self) -> None:
        self.source = data_folder().parent / "source.zip"
        if not self.source.exists():
            write_project_zip(self.project, self.source)

    def step(self) -> None:
        import_project_zip(self.source)

    def count(self) -> int:
        copies = [summary for summary in list_projects() if summary.id != self.project.id]
        for copy in copies:
            assert copy.problem == ""
            assert copy.phrases == PHRASES
            check_whole(open_project(copy.id))
        return len(copies)


@dataclass
class Export:
    """Write the project as a zip, each time over the zip before; the name says which it is."""

    project: Project

    @property
    def target(self) -> Path:
        return data_folder().parent / "out" / "project.zip"

    def step(self) -> None:
        self.project.rename(f"Export {self.count() + 1}")
        write_project_zip(self.project, self.target)

    def count(self) -> int:
        if not self.target.exists():
            return 0
        with zipfile.ZipFile(self.target) as archive:
            assert archive.testzip() is None
            data = archive.read("project.db")
        with closing(sqlite3.connect(":memory:")) as db:
            db.deserialize(data)
            [name] = db.execute("SELECT value FROM facts WHERE key = 'name'").fetchone()
        return int(name.removeprefix("Export "))


@dataclass
class Train:
    """Train; a training that was interrupted is resumed first.

    One that was killed before its process began is "queued", and for a while it counts as starting.
    """

    project: Project

    def step(self) -> None:
        from engine import jobs
        from engine.jobs.worker.process import do_job
        from engine.network.device import set_threads
        from tests.support.small_project import tiny_request

        set_threads(1)
        stored = jobs.list_jobs(self.project)
        queued = [job for job in stored if job.state == "queued"]
        ended = [job for job in stored if job.can_resume]
        if queued:
            job = queued[0]
        elif ended:
            job = jobs.requeue(self.project, ended[0])
        else:
            job = jobs.create(self.project, tiny_request(settings={"epochs": 3}))
        state = do_job(self.project, job.id)
        assert state == "done", (state, jobs.get_job(self.project, job.id).message)

    def count(self) -> int:
        from engine import jobs

        done = 0
        for job in jobs.list_jobs(self.project):
            if job.state == "done":
                done += 1
                assert len(jobs.epochs(self.project, job.id)) == 3
                assert set(jobs.results(self.project, job.id).entities) == {"mpn"}
            else:
                assert job.state in ("queued", "interrupted", "cancelled", "failed"), job.state
        return done


OPERATIONS = {
    "save": Save,
    "mute": Mute,
    "decide": Decide,
    "import": Import,
    "export": Export,
    "train": Train,
}
