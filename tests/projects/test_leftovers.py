"""What killed processes leave behind is deleted at the next start; what live ones use stays."""

import os
import subprocess
import sys
import time

import pytest

from engine.cli.inputs import named_project
from engine.files.writing import written_whole
from engine.projects.archive import working_folder
from engine.projects.leftovers import sweep_beside
from engine.projects.workspace import (
    create_project,
    sweep_leftovers,
    write_project_zip,
    zipped_project,
)
from engine.system.leftovers import is_left_behind, process_mark

EXPORT = """
import os, sys, zipfile
from pathlib import Path
from engine.projects.workspace import open_project, write_project_zip
def write(*_):
    print(1, flush=True)
    sys.stdin.read()
zipfile.ZipFile.write = write  # it hangs in the middle of a zip
write_project_zip(open_project(sys.argv[1]), Path(sys.argv[2]))
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))
    return create_project("Notes")


@pytest.fixture
def export(project, tmp_path):
    """A process in the middle of an export of the project."""
    (tmp_path / "out").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", EXPORT, project.id, str(tmp_path / "out" / "notes.zip")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"1\n"
    yield process
    process.kill()
    process.communicate()


def hidden(folder):
    return sorted(path for path in folder.rglob(".*") if path.name != ".lock")


def test_a_killed_export_is_swept_at_the_next_start(project, export, tmp_path):
    assert len(hidden(project.folder)) == len(hidden(tmp_path / "out")) == 1
    for sweep in (sweep_leftovers, lambda: named_project(project.id)):
        sweep()
        assert len(hidden(project.folder)) == 1  # its process is alive
    write_project_zip(project, tmp_path / "out" / "notes.zip")
    assert len(hidden(tmp_path / "out")) == 1
    export.kill()
    export.wait()
    named_project(project.id)
    assert hidden(project.folder) == []
    write_project_zip(project, tmp_path / "out" / "notes.zip")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["notes.zip"]


def test_the_app_sweeps_all_projects(project, export, tmp_path):
    half = project.folder.parent / f".new-{process_mark()}-abcdef"
    half.mkdir()
    export.kill()
    export.wait()
    run = project.folder / "runs" / "a"
    run.mkdir(parents=True)
    gone = process_mark().replace(f"p{os.getpid()}", f"p{export.pid}")
    for name in (f".x.{gone}.abc.part", f".x.{process_mark()}.abc.part", "x.part", ".x.abc.part"):
        (run / name).write_bytes(b"")
    sweep_leftovers()
    assert half.is_dir()  # this process might still be making it
    names = {path.name for path in run.iterdir()}
    assert names == {f".x.{process_mark()}.abc.part", "x.part", ".x.abc.part"}
    assert [path for path in hidden(project.folder) if path.is_dir()] == []


def test_without_a_mark_or_from_elsewhere_the_age_decides(tmp_path):
    pid, _, began = process_mark().split("-")
    for name in (".x.abc.part", f".x.{pid}-000000-{began}.abc.part"):
        path = tmp_path / name
        path.write_bytes(b"")
        assert not is_left_behind(path)
        os.utime(path, (time.time() - 2 * 24 * 3600,) * 2)
        assert is_left_behind(path)
        sweep_beside(tmp_path / "x")
        assert not path.exists()


def test_a_later_process_with_the_same_pid_does_not_protect_it(tmp_path):
    earlier = process_mark()[:-8] + "00000000"
    path = tmp_path / f".x.{earlier}.abc.part"
    path.write_bytes(b"")
    assert is_left_behind(path)


def test_what_this_process_writes_is_never_swept(project, tmp_path):
    with written_whole(tmp_path / "x") as out, working_folder(project.folder) as folder:
        out.write(b"x")
        sweep_beside(tmp_path / "x")
        sweep_leftovers()
        assert folder.is_dir()
    assert (tmp_path / "x").read_bytes() == b"x"
    assert hidden(project.folder) == []


def test_a_project_is_zipped_in_its_own_folder_which_is_empty_afterwards(project):
    assert zipped_project(project).startswith(b"PK")
    assert hidden(project.folder) == []
