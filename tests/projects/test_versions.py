"""Every edit of a project's dictionaries is a version."""

import pytest

from engine.dictionaries.editing import PhraseRow, find_phrases, match_as_written
from engine.dictionaries.model import Dictionary, Phrase
from engine.files.sources import SourceFile
from engine.projects.project import Project
from engine.projects.workspace import create_project
from engine.text.model import InputError

NOTES = SourceFile("notes.txt", b"A fever and a Rash.\n\nNo rash, but a cold and fever.\n")
DISEASES = SourceFile("Disease.txt", b"fever\nrash\n")
MORE = [Dictionary("more.csv", (Phrase("Rash", "Disease"), Phrase("cold", "Disease")))]
RASH = PhraseRow("Disease.txt", "rash", "Disease")


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path))
    project = create_project("Notes")
    project.add_text([NOTES])
    project.add_dictionaries([DISEASES])
    return project


def reason(project):
    return project.dictionary_history()[0].reason


def test_joined_dictionaries_are_a_version_and_come_back_under_their_names(project):
    again = [Dictionary("Disease.txt", (Phrase("gout", "Disease"),))]
    [added] = project.join_dictionaries(again)
    assert (added.name, reason(project)) == ("Disease.txt~2", "Added Disease.txt~2")
    [added] = project.join_dictionaries(again, is_replacing=True)
    assert (added.name, reason(project)) == ("Disease.txt", "Added Disease.txt")
    assert [(d.name, len(d.phrases)) for d in project.dictionaries()] == [
        ("Disease.txt", 1),
        ("Disease.txt~2", 1),
    ]


def test_a_save_during_a_join_is_not_lost(project, monkeypatch):
    before, others = project.dictionaries(), [Dictionary("other.csv", ())]

    def meanwhile(held, new, *, is_replacing):
        monkeypatch.undo()  # once
        project.save_dictionaries([*held, *others], "Elsewhere")
        return [*held, *new]

    monkeypatch.setattr("engine.projects.versions.join", meanwhile)
    project.join_dictionaries(MORE)
    assert project.dictionaries() == [*before, *others, *MORE]


def test_phrases_that_match_as_written_are_stored(project):
    held = [match_as_written(d, [("rash", "Disease")]) for d in project.dictionaries()]
    project.save_dictionaries(held, "Only as written")
    assert [d.as_written for d in project.dictionaries()] == [{("rash", "Disease")}]


def test_phrases_are_muted_and_unmuted_as_versions(project):
    project.join_dictionaries(MORE)
    rows = find_phrases(project.dictionaries(), [("rash", None)])
    assert project.mute_phrases(rows) == 3
    assert [sorted(d.muted) for d in project.dictionaries()] == [
        [("rash", "Disease")],
        [("Rash", "Disease")],
    ]
    assert reason(project) == "Muted “rash”"
    assert project.mute_phrases(rows) == 3  # they were muted already
    assert project.unmute_phrases(rows[:1]) == 4
    assert reason(project) == "Unmuted “rash”"
    assert [len(d.muted) for d in project.dictionaries()] == [0, 1]


def test_phrases_move_to_another_type_as_a_version(project):
    assert project.relabel_phrases([RASH], " Skin  symptom ") == 2
    assert project.dictionaries()[0].types == ("Disease", "Skin symptom")
    assert reason(project) == "Moved “rash” from Disease to Skin symptom"
    everything = find_phrases(project.dictionaries(), [("rash", None), ("fever", None)])
    project.relabel_phrases(everything, "Symptom")
    assert reason(project) == "Moved “fever”, “rash” to Symptom"


def test_removed_dictionaries_are_gone_from_the_next_version_only(project):
    project.join_dictionaries(MORE)
    assert project.remove_dictionaries(["Disease.txt"]) == 3
    assert (project.dictionaries(), reason(project)) == (MORE, "Removed Disease.txt")
    assert len(project.dictionaries_at(2)) == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda project: project.mute_phrases([RASH]),
        lambda project: project.unmute_phrases([RASH]),
        lambda project: project.relabel_phrases([RASH], "Symptom"),
        lambda project: project.remove_dictionaries(["Disease.txt"]),
    ],
)
def test_a_change_made_elsewhere_is_not_overwritten(project, monkeypatch, change):
    project.save_dictionaries([], "Elsewhere")
    monkeypatch.setattr(Project, "dictionary_version", lambda self: 1)
    with pytest.raises(InputError, match="changed elsewhere"):
        change(project)


def test_phrases_from_review_are_added_as_one_version_and_counted_once(project):
    version, count = project.add_phrases([("chill", "Disease"), ("fever", "Disease")])
    assert (version, count) == (2, 1)  # fever was there already
    assert "chill" in {p.text for d in project.dictionaries() for p in d.phrases}
    assert reason(project) == "1 phrase from review"
