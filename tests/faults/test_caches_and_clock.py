"""Caches that are deleted while they are used, and a clock that is set back."""

import os
import shutil
import threading
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import numpy as np
import pytest

from engine import jobs
from engine.dictionaries.editing import PhraseRow
from engine.files.sources import SourceFile
from engine.jobs.reports import open_report
from engine.jobs.rows import set_process
from engine.projects.labels import labels_of
from engine.projects.store import writing
from engine.projects.workspace import delete_project, list_projects
from engine.system.moments import seconds_since
from engine.system.processes import Process, host_name
from tests.support.fault_operations import check_whole, make_project
from tests.support.small_project import tiny_request


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path))
    return make_project()


def test_caches_that_are_deleted_meanwhile_are_made_again(project):
    texts = [document.text for document in project.corpus().documents]
    labels = labels_of(project).labels
    is_over = threading.Event()

    def delete_caches():
        while not is_over.wait(0.001):
            shutil.rmtree(project.folder / "cache", ignore_errors=True)

    thread = threading.Thread(target=delete_caches)
    thread.start()
    try:
        for i in range(15):
            project.add_text([SourceFile(f"{i}.txt", b"drug 8")])
            texts.append("drug 8")
            assert [document.text for document in project.corpus().documents] == texts
            assert np.array_equal(labels_of(project).labels[: len(labels)], labels)
    finally:
        is_over.set()
        thread.join()
    check_whole(project)


@pytest.fixture
def set_back(monkeypatch):
    """Return a function that sets the clock back by some hours."""

    def set_clock(hours):
        def now(zone=UTC):
            return datetime.now(zone) - timedelta(hours=hours)

        clock = SimpleNamespace(
            now=now,
            fromisoformat=datetime.fromisoformat,
            fromtimestamp=datetime.fromtimestamp,
        )
        monkeypatch.setattr("engine.system.moments.datetime", clock)
        monkeypatch.setattr("engine.jobs.lifecycle.datetime", clock)

    return set_clock


def test_the_latest_is_what_was_stored_last_whatever_the_clock_says(project, set_back):
    first = jobs.create(project, tiny_request())
    open_report(project.folder, first.id).finish("done")
    project.mute_phrases([PhraseRow("Drug.txt", "drug 0", "Drug")])
    project.add_decision("review", "first", 0, 7, "Drug", "accepted")
    set_back(5)
    second = jobs.create(project, tiny_request())
    assert [job.id for job in jobs.list_jobs(project)] == [second.id, first.id]
    assert second.created_at < first.created_at
    open_report(project.folder, second.id).finish("cancelled")
    [summary] = list_projects()
    assert summary.last_job == "train cancelled"
    project.mute_phrases([PhraseRow("Drug.txt", "drug 1", "Drug")])
    project.add_decision("review", "first", 0, 7, "Drug", "rejected")
    assert project.dictionary_version() == 3
    assert len(project.dictionaries()[0].muted) == 2
    [decision] = project.decisions("review")
    assert decision.verdict == "rejected"
    assert project.undo_decision("review").verdict == "rejected"
    check_whole(project)


def test_a_dead_job_is_noticed_after_the_clock_was_set_back(project, set_back):
    unseen = jobs.create(project, tiny_request())
    elsewhere = Process(os.getpid(), "1", f"not-{host_name()}")
    with writing(project.folder) as db:
        set_process(db, unseen.id, 1, elsewhere, project.folder)
    open_report(project.folder, unseen.id).beat()
    jobs.create(project, tiny_request())  # its process never begins
    assert {job.state for job in jobs.list_jobs(project)} == {"queued"}
    set_back(5)
    assert {job.state for job in jobs.list_jobs(project)} == {"interrupted"}
    with writing(project.folder) as db:
        db.execute("UPDATE jobs SET state = 'running' WHERE id = ?", (unseen.id,))
    delete_project(project.id)  # nobody has worked on it a moment ago


def test_a_moment_before_the_clock_was_set_back_is_not_now(set_back):
    at = datetime.now(UTC).isoformat()
    set_back(1)
    assert seconds_since(at) > 3000
