"""The health of a project's dictionaries: mended as a version, and what is kept stays kept."""

import pytest

from engine.cli.command_line import main
from engine.files.sources import SourceFile
from engine.labels import AS_WRITTEN
from engine.projects import health_of, keep_entries, kept_entries, labels_of, mend_dictionaries
from engine.projects.workspace import create_project

TEXT = SourceFile(
    "notes.txt", b"He took aspirin in the house, in pain. In time the warfarin helped.\n"
)
CHEMICALS = SourceFile("Chemical.txt", b"aspirin\nwarfarin\nin\nThe\n")


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path))
    project = create_project("Notes")
    project.add_text([TEXT])
    project.add_dictionaries([CHEMICALS])
    return project


def health(project):
    corpus = project.corpus()
    return health_of(project, project.dictionaries(), labels_of(project), list(corpus.sentences))


def test_every_proposal_is_one_version(project):
    found = health(project)
    assert [entry.name for entry in found.proposed] == ["“in”", "“The”"]
    assert mend_dictionaries(project, found.proposed) == 2
    assert project.dictionary_history()[0].reason == "Muted “in”, “The”"
    assert not health(project).entries


def test_another_action_is_said_in_the_history(project):
    mend_dictionaries(project, health(project).proposed[:1], AS_WRITTEN)
    assert project.dictionary_history()[0].reason == "Only as written: “in”"
    assert [d.as_written for d in project.dictionaries()] == [{("in", "Chemical")}]


def test_what_is_kept_is_not_proposed_again_until_it_is_forgotten(project):
    first = health(project).entries[0]
    keep_entries(project, [first.key])
    assert first.name not in [entry.name for entry in health(project).entries]
    keep_entries(project, [first.key], are_kept=False)
    assert not kept_entries(project)
    assert first in health(project).entries


def test_the_command_prints_the_entries_and_accepts_them(project, capsys):
    assert main(["health", "--project", project.id]) == 0
    assert "2 phrases look wrong: about 4 matches." in capsys.readouterr().out
    assert project.dictionary_version() == 1
    assert main(["health", "--project", project.id, "--accept"]) == 0
    assert "The dictionaries are at version 2." in capsys.readouterr().out
    assert main(["health", "--project", project.id]) == 0
    assert "No phrase looks wrong." in capsys.readouterr().out


def test_only_a_project_is_mended(tmp_path, capsys):
    text, names = tmp_path / "a.txt", tmp_path / "Chemical.txt"
    text.write_text("in lead")
    names.write_text("in\n")
    assert main(["health", str(text), "--dictionary", str(names), "--accept"]) == 2
    assert "name it with --project" in capsys.readouterr().err
