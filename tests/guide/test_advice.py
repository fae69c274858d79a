"""The story of a project's latest run."""

import pytest

from engine.files.sources import SourceFile
from engine.guide.advice import project_story
from engine.projects.workspace import create_project
from tests.support.finished_runs import finish_run, make_project

GOLD = b"doc_id,start,end,label\nnotes,7,11,Disease\nnotes,16,38,Disease\nnotes,56,63,Chemical\n"


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))


def test_without_a_run_there_is_no_story():
    assert project_story(create_project("Empty")) is None


def test_without_gold_the_most_trusted_method_is_taken():
    project = make_project()
    finish_run(project)
    story = project_story(project)
    assert story.method == "Conf-MPU" and "F1" not in str(story)


def test_with_gold_the_best_method_is_taken():
    project = make_project()
    finish_run(project)
    project.set_gold([SourceFile("gold.csv", GOLD)])
    story = project_story(project)
    assert story.method == "Conf-MPU"
    assert "it finds 100 of 100 entities" in story.text
    assert story.caution == "There are only 3 gold entities: a rough guide."
