"""A disk that fills up during a job: the job fails for the true reason once that can be stored."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from engine import jobs
from engine.jobs.reports import Report
from engine.jobs.rows import set_process
from engine.jobs.worker.process import do_job
from engine.projects.store import writing
from engine.projects.workspace import create_project
from engine.system.processes import Process, host_name
from engine.text.model import InputError
from tests.support.full_disk import full_disk
from tests.support.small_project import make_small_project, tiny_request

pytestmark = pytest.mark.usefixtures("one_thread")
WHY = "no room left on the disk"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path))
    return make_small_project()


@pytest.fixture
def while_waiting(monkeypatch):
    """Return a list of functions: the job calls the next one instead of waiting for room."""
    actions = []
    monkeypatch.setattr("engine.jobs.worker.process.time.sleep", lambda _: actions.pop(0)())
    # No heartbeats: they would be counted as writes, and they come when they like.
    monkeypatch.setattr("engine.jobs.reports._LOOK_SECONDS", 3600)
    return actions


def steps(count, wanted):
    """Return the numbers 1, 2, 3 and others up to the count, evenly apart."""
    return sorted({1, 2, 3, *range(1, count + 1, max(1, count // wanted))})


def test_wherever_the_disk_fills_up_the_job_says_so_and_can_be_resumed(project, while_waiting):
    job = jobs.create(project, tiny_request(settings={"epochs": 1}))
    with full_disk(project.folder, at=0) as disk:
        assert do_job(project, job.id) == "done"
    assert disk.count > 20
    for at in steps(disk.count, 8):
        job = jobs.create(project, tiny_request(settings={"epochs": 1}))
        with full_disk(project.folder, at=at) as disk:
            while_waiting[:] = [lambda: None, disk.free]
            state = do_job(project, job.id, is_own_process=True)
        job = jobs.get_job(project, job.id)
        assert job.state == state
        if state == "failed":
            assert WHY in job.message, at
            assert "\n" not in job.message
            job = jobs.requeue(project, job)
            state = do_job(project, job.id)
        assert state == "done", at


def refuse(monkeypatch):
    """Let it be impossible to store how a job ended."""

    def finish(report, state, message=""):
        raise InputError(f"{WHY} for {report.folder}; nothing was stored. Enlarge the disk")

    monkeypatch.setattr(Report, "finish", finish)


def test_a_program_with_more_to_do_gives_up_and_names_the_reason(
    project, while_waiting, monkeypatch
):
    job = jobs.create(project, tiny_request())
    while_waiting[:] = [lambda: None] * 20

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("engine.jobs.worker.kinds.train_job", fail)
    with monkeypatch.context() as patched:
        refuse(patched)
        with pytest.raises(InputError, match=WHY):
            do_job(project, job.id)
    assert len(while_waiting) == 11
    assert jobs.get_job(project, job.id).state == "running"  # this process is still there
    with writing(project.folder) as db:
        db.execute("UPDATE jobs SET began = '0'")  # as if it were gone
    job = jobs.get_job(project, job.id)
    assert job.state == "failed"
    assert job.message.startswith("There is no room left on the disk. Delete old runs")


def test_the_reason_in_the_log_is_that_of_the_latest_start(project):
    job = jobs.create(project, tiny_request())
    (job.folder / "log.txt").write_text("attempt 7 ended as failed: Long ago.\n", encoding="utf-8")
    with writing(project.folder) as db:
        set_process(db, job.id, 1, Process(os.getpid(), "0", host_name()), project.folder)
    assert jobs.get_job(project, job.id).message.startswith("The process ended before it was done")


def test_a_deleted_project_is_not_waited_for(project, while_waiting, monkeypatch):
    job = jobs.create(project, tiny_request())

    def work(*_):
        shutil.rmtree(project.folder)
        return True

    monkeypatch.setattr("engine.jobs.worker.kinds.do_work", work)
    assert do_job(project, job.id, is_own_process=True) == "superseded"


@pytest.fixture
def small_disk(tmp_path):
    """A real disk of 24 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=24m", "glossa-test", str(folder)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(folder: Path):
    """Leave no byte free below the folder."""
    with open(folder / "filler", "wb", buffering=0) as filler:
        for size in (65_536, 1):
            try:
                while True:
                    filler.write(bytes(size))
            except OSError:
                continue


def test_a_training_on_a_disk_that_is_really_full(small_disk, while_waiting, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(small_disk))
    project = make_small_project()
    job = jobs.create(project, tiny_request(settings={"epochs": 3}))
    waited = []

    def make_room():
        waited.append(jobs.get_job(project, job.id).state)
        os.unlink(small_disk / "filler")

    while_waiting[:] = [make_room]
    heard = []

    def on_progress(progress):
        heard.append(progress)
        if len(heard) == 1:
            fill(small_disk)

    assert do_job(project, job.id, on_progress, is_own_process=True) == "failed"
    job = jobs.get_job(project, job.id)
    assert WHY in job.message
    assert waited in ([], ["running"])  # SQLite may have had room left in its log
    (small_disk / "filler").unlink(missing_ok=True)
    jobs.requeue(project, job)
    assert do_job(project, job.id) == "done"


def test_nothing_of_a_job_is_left_when_it_cannot_be_stored(project):
    project.jobs_folder.mkdir()
    with full_disk(project.folder, at=2), pytest.raises(InputError, match=WHY):
        jobs.create(project, tiny_request())
    assert list(project.jobs_folder.iterdir()) == []
    assert jobs.list_jobs(project) == []


def test_an_empty_project_is_made_or_not(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path))
    with full_disk(tmp_path, at=1), pytest.raises(InputError, match=WHY):
        create_project("Full")
    assert list(tmp_path.iterdir()) == []
