"""Two processes that work on one project at once: everything that both stored is there."""

import os
import subprocess
import sys

import pytest

from engine import jobs
from engine.jobs.reports import open_report
from tests.support.fault_operations import check_whole, make_project
from tests.support.small_project import tiny_request

STEPS = 6
WORK = """
import sys
from engine.dictionaries.editing import PhraseRow
from engine.files.sources import SourceFile
from engine.projects.workspace import open_project
from engine.text.model import InputError
project, own, steps = open_project(sys.argv[1]), sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
for i in range(steps):
    project.add_text([SourceFile("same.txt", f"{own} {i}".encode())])
    number = 2 * i + (own == "b")
    project.add_decision("review", "first", number, number + 1, "Drug", "accepted")
    while True:
        try:
            project.mute_phrases([PhraseRow("Drug.txt", f"drug {number}", "Drug")])
            break
        except InputError as error:
            assert "were changed elsewhere" in str(error), error
"""
RESUME = """
import sys
from engine import jobs
from engine.projects.workspace import open_project
from engine.text.model import InputError
project = open_project(sys.argv[1])
job = jobs.find_job(project, sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
try:
    print(jobs.requeue(project, job).attempt, flush=True)
except InputError as error:
    print(error, flush=True)
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path))
    return make_project()


def run_both(script, *arguments):
    """Run a script in two processes that begin together; return what each prints."""
    both = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                script,
                *(a[i] if isinstance(a, tuple) else a for a in arguments),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.getcwd()},
        )
        for i in range(2)
    ]
    for process in both:
        assert process.stdout.readline() == "ready\n"
    for process in both:
        process.stdin.write("go\n")
        process.stdin.flush()
    printed = [process.communicate()[0].strip() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    return printed


def test_what_two_servers_store_at_once_is_all_there(project):
    run_both(WORK, project.id, ("a", "b"), str(STEPS))
    check_whole(project)
    documents = project.corpus().documents
    assert len({document.id for document in documents}) == 1 + 2 * STEPS
    texts = {document.text for document in documents}
    assert texts >= {f"{own} {i}" for own in "ab" for i in range(STEPS)}
    numbers = range(2 * STEPS)
    assert sorted(decision.start for decision in project.decisions("review")) == list(numbers)
    [dictionary] = project.dictionaries()
    assert {text for text, _ in dictionary.muted} == {f"drug {i}" for i in numbers}
    assert project.dictionary_version() == 1 + 2 * STEPS


def test_of_two_servers_that_resume_a_job_one_does(project):
    job = jobs.create(project, tiny_request())
    open_report(project.folder, job.id).finish("interrupted")
    printed = sorted(run_both(RESUME, project.id, job.id))
    assert printed == ["2", f"job {job.id} was started by someone else just now"]
    open_report(project.folder, job.id).finish("cancelled")
