"""A project's text is labeled once, and again only where something changed."""

import pytest

from engine.dictionaries.editing import PhraseRow
from engine.files.sources import SourceFile
from engine.labels.distant import label
from engine.projects import labels as project_labels
from engine.projects.caches.labels import labels_path
from engine.projects.labels import EarlierLabels, labels_of
from engine.projects.project import Project
from engine.projects.workspace import create_project
from tests.support.labelings import assert_same

NOTES = SourceFile("notes.txt", b"A fever and a Rash.\n\nNo rash, but a cold and fever.\n")
DISEASES = SourceFile("Disease.txt", b"fever\nrash\n")
RASH = PhraseRow("Disease.txt", "rash", "Disease")


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path))
    project = create_project("Notes")
    project.add_text([NOTES])
    project.add_dictionaries([DISEASES])
    return project


@pytest.fixture
def no_labeling(monkeypatch):
    def never(*_, **__):
        raise AssertionError("labeled again")

    return lambda: monkeypatch.setattr(project_labels, "label", never)


def made(project, version=None, preset="adaptive"):
    """The labels, made from scratch."""
    version = project.dictionary_version() if version is None else version
    return label(project.corpus().documents, project.dictionaries_at(version), preset)


def test_labels_are_made_once_and_kept(project, no_labeling):
    first = labels_of(project)
    assert_same(first, made(project))
    assert labels_path(project.folder, project.labels_key()).is_file()
    no_labeling()
    assert_same(labels_of(project), first)
    assert_same(labels_of(project, 1, "adaptive"), first)


def test_another_version_or_preset_has_other_labels(project):
    project.mute_phrases([RASH])
    assert_same(labels_of(project, 1), made(project, 1))
    assert_same(labels_of(project), made(project, 2))
    assert_same(labels_of(project, preset="strict"), made(project, preset="strict"))
    project.set_match_preset("strict")
    assert_same(labels_of(project), made(project, preset="strict"))


def test_text_and_dictionaries_at_hand_are_not_read_again(project, monkeypatch):
    documents, dictionaries = project.corpus().documents, project.dictionaries()
    expected = made(project)
    monkeypatch.delattr(Project, "corpus")
    monkeypatch.delattr(Project, "dictionaries_at")
    labels = labels_of(
        project, documents=lambda: documents, dictionaries_at=lambda version: dictionaries
    )
    assert_same(labels, expected)


def test_labels_after_a_mute_follow_from_earlier_ones(project, no_labeling):
    earlier = EarlierLabels(project.labels_key(), 1, labels_of(project))
    project.mute_phrases([RASH])
    expected = made(project)
    no_labeling()
    assert_same(labels_of(project, earlier=earlier), expected)


def test_earlier_labels_of_another_text_are_not_used(project):
    earlier = EarlierLabels(project.labels_key(), 1, labels_of(project))
    project.mute_phrases([RASH])
    project.add_text([SourceFile("more.txt", b"Fever again.\n")])
    assert_same(labels_of(project, earlier=earlier), made(project))
