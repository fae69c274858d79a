"""Jobs of an imported project use nothing outside it that the user has not allowed."""

from dataclasses import replace

import pytest

from engine import jobs
from engine.files.sources import SourceFile
from engine.jobs import PredictRequest, TrainRequest
from engine.projects.store import writing
from engine.projects.workspace import duplicate_project, import_project_zip, write_project_zip
from engine.run_folder.card import read_card, write_card
from engine.text.model import InputError
from tests.support.finished_runs import finish_run, make_project

SECRET = {"word_vectors": "/path/secret.txt"}


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))


@pytest.fixture
def crafted(tmp_path):
    """A project with a stopped training and a finished run that name a file of this machine."""
    project = make_project()
    run = finish_run(project)
    folder = jobs.run_folder(run, "mpu")
    card = read_card(folder)
    write_card(folder, replace(card, settings=replace(card.settings, **SECRET)))
    stopped(project)
    return project


def stopped(project):
    job = jobs.create(project, TrainRequest(("mpu",), "quick", settings=SECRET))
    with writing(project.folder) as db:
        db.execute("UPDATE jobs SET state = 'cancelled' WHERE id = ?", (job.id,))
    return job


def imported(project, tmp_path):
    write_project_zip(project, tmp_path / "p.zip")
    return import_project_zip(tmp_path / "p.zip")


def of_state(project, state):
    return next(job for job in jobs.list_jobs(project) if job.state == state)


def predict(project):
    run = of_state(project, "done")
    return jobs.create(project, PredictRequest(run.id, "mpu", (SourceFile("a.txt", b"gout"),)))


def test_jobs_of_this_machine_are_not_asked_about(crafted):
    assert jobs.names_to_ask(crafted, of_state(crafted, "cancelled")) == ()
    assert jobs.requeue(crafted, of_state(crafted, "cancelled")).state == "queued"
    assert predict(crafted).state == "queued"


def test_an_imported_training_is_resumed_only_when_allowed(crafted, tmp_path):
    project = imported(crafted, tmp_path)
    job = of_state(project, "cancelled")
    with pytest.raises(InputError, match=r"uses \"/path/secret\.txt\""):
        jobs.requeue(project, job)
    jobs.allow_names(project, job)
    assert jobs.requeue(project, job).state == "queued"


def test_an_imported_run_predicts_only_when_allowed(crafted, tmp_path):
    project = imported(crafted, tmp_path)
    with pytest.raises(InputError, match="this run was imported"):
        predict(project)
    jobs.allow_names_of_run(of_state(project, "done"), "mpu")
    assert predict(project).state == "queued"


def test_a_copy_of_an_imported_project_asks_too(crafted, tmp_path):
    project = duplicate_project(imported(crafted, tmp_path).id, "Copy")
    assert jobs.names_to_ask(project, of_state(project, "cancelled")) == ("/path/secret.txt",)


def test_a_job_started_after_the_import_is_not_asked_about(tmp_path):
    project = imported(make_project(), tmp_path)
    assert jobs.names_to_ask(project, stopped(project)) == ()
