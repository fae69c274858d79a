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


def test_the_counts_of_the_files_follow_the_language():
    project = create_project("Mine")
    project.add_text([SourceFile("short.txt", b"Too short to tell.")])
    project.add_text([NOTES])
    assert project.language() == "de"
    for code in ("de", "en", "de"):
        project.set_language(code)
        counted = sum(file.sentences for file in project.text_files())
        assert counted == sentences(project) == {"de": 6, "en": 7}[code]


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
