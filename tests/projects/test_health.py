"""The health of a project's dictionaries: mended as a version, and what is kept stays kept."""

import pytest

from engine.cli.command_line import main
from engine.files.sources import SourceFile
from engine.health import AS_WRITTEN, MUTE
from engine.labels import DoubtfulPhrase
from engine.projects import (
    doubts_key,
    health_of,
    keep_doubtful,
    keep_entries,
    kept_entries,
    labels_of,
    mend_dictionaries,
)
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


# ---- what a training doubts ----------------------------------------------------------------

ASPIRIN = DoubtfulPhrase("aspirin", "Chemical", 1, "Brand")


def contradicted(project):
    return [e.name for e in health(project).entries if e.kind == "contradicted by the text"]


def test_what_a_training_doubts_is_listed_while_the_text_is_the_same(project):
    before = doubts_key(project)
    keep_doubtful(project, [ASPIRIN])
    assert contradicted(project) == ["“aspirin”"]
    assert doubts_key(project) != before  # or pages would show what they kept
    project.add_text([SourceFile("more.txt", b"He took aspirin again.\n")])
    assert contradicted(project) == []


def test_the_next_training_replaces_what_the_last_one_doubted(project):
    keep_doubtful(project, [ASPIRIN])
    keep_doubtful(project, [])
    assert contradicted(project) == []


@pytest.mark.parametrize("value", ["aspirin", {"text": "", "phrases": [1]}, {"phrases": "x"}, [2]])
def test_doubts_that_cannot_be_read_are_none(project, value):
    if isinstance(value, dict):
        value["text"] = project.text_key()
    project.set_choice("health_doubtful", value)
    assert contradicted(project) == []


# ---- kinds of names -------------------------------------------------------------------------


@pytest.fixture
def with_kind(tmp_path, monkeypatch):
    """A project whose dictionary has 24 receptors, of which the text has two."""
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path))
    project = create_project("Receptors")
    names = [f"{letter}olim receptor" for letter in "abcdefghijklmnopqrstuvwx"]
    text = "He took aspirin. " + "The bolim receptor and the colim receptor. " * 3
    project.add_text([SourceFile("notes.txt", text.encode())])
    lines = "\n".join(["aspirin", *names]).encode()
    project.add_dictionaries([SourceFile("Chemical.txt", lines)])
    return project


def test_a_kind_is_muted_as_one_version_with_its_name(with_kind):
    found = health(with_kind)
    assert mend_dictionaries(with_kind, found.kinds, MUTE) == 2
    reason = with_kind.dictionary_history()[0].reason
    assert reason == "Muted names that end with “receptor”"
    [dictionary] = with_kind.dictionaries()
    assert len(dictionary.muted) == 24
    assert not health(with_kind).kinds


def test_the_command_lists_kinds_and_mutes_one(with_kind, capsys):
    assert main(["health", "--project", with_kind.id]) == 0
    shown = capsys.readouterr().out
    assert "Kinds of names" in shown and "receptor" in shown
    assert main(["health", "--project", with_kind.id, "--mute-kind", "Receptor"]) == 0
    said = capsys.readouterr().out
    assert "Muted names that end with “receptor”. The dictionaries are at version 2." in said


def test_a_kind_that_is_not_listed_has_its_sentence(with_kind, capsys):
    assert main(["health", "--project", with_kind.id, "--mute-kind", "kinase"]) == 2
    said = capsys.readouterr().err
    assert 'there is no kind of names "kinase" here; listed are: receptor' in said
    assert with_kind.dictionary_version() == 1


def test_only_a_project_mutes_a_kind(tmp_path, capsys):
    text, names = tmp_path / "a.txt", tmp_path / "Chemical.txt"
    text.write_text("in lead")
    names.write_text("lead\n")
    given = ["health", str(text), "--dictionary", str(names), "--mute-kind", "receptor"]
    assert main(given) == 2
    assert "--mute-kind changes the dictionaries of a project" in capsys.readouterr().err


def test_only_a_project_is_mended(tmp_path, capsys):
    text, names = tmp_path / "a.txt", tmp_path / "Chemical.txt"
    text.write_text("in lead")
    names.write_text("in\n")
    assert main(["health", str(text), "--dictionary", str(names), "--accept"]) == 2
    assert "name it with --project" in capsys.readouterr().err
