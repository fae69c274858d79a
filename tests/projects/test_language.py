import pytest

from engine.files.sources import SourceFile
from engine.projects.workspace import create_project
from engine.settings import ReadOptions
from engine.text.model import InputError
from tests.support.languages import GERMAN, TEXTS

NOTES = SourceFile("n.txt", f"{GERMAN} {TEXTS['de']} {TEXTS['de']} {TEXTS['de']}".encode())


def sentences(project):
    return sum(len(document.sentences) for document in project.corpus().documents)


def test_project_takes_the_language_of_its_first_text():
    project = create_project("Mine")
    [note] = project.add_text([NOTES])
    assert "the text looks German" in note and project.language() == "de"
    assert sentences(project) == 5
    assert project.add_text([SourceFile("m.txt", GERMAN.encode())]) == []
    assert sentences(project) == 7
    key = project.text_key()
    project.set_language("en")
    assert project.language() == "en" and project.text_key() != key
    assert sentences(project) == 9
    project.set_language("de")
    assert project.text_key() == key and sentences(project) == 7


def test_language_that_is_given_is_not_detected():
    project = create_project("Mine")
    assert project.add_text([NOTES], ReadOptions(language="fr")) == []
    assert project.language() == "fr"


def test_english_stays_as_it_was():
    project = create_project("Mine")
    assert project.add_text([SourceFile("n.txt", TEXTS["en"].encode())]) == []
    assert project.language() == "en"
    key = project.text_key()
    project.set_language("en")
    assert project.text_key() == key


def test_unknown_language_is_refused():
    with pytest.raises(InputError, match='"xx" is not a language that is known: en, de'):
        create_project("Mine").set_language("xx")
