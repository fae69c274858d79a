import json

import pytest

from engine.dictionaries.editing import PhraseRow
from engine.files.sources import SourceFile
from engine.labels.distant import dictionary_entities
from engine.projects.labels import labels_of
from engine.projects.opinions import FOLDER
from engine.projects.project import Project
from engine.projects.workspace import create_project, import_project_zip, write_project_zip
from engine.settings import ReadOptions
from engine.text.model import InputError

TEXT = b'{"id": "a", "text": "He had gout and a cold."}\n{"id": "b", "text": "No rash."}\n'
CSV = b"doc_id,start,end,label,score\na,7,11,Disease,0.9\nb,3,7,Sign,\n"


@pytest.fixture
def project():
    project = create_project("Mine")
    project.add_text([SourceFile("notes.jsonl", TEXT)])
    return project


def add(project, data=CSV, name="GPT", file="predicted.csv"):
    return project.add_opinion(name, [SourceFile(file, data)])


def spans(project, name="GPT"):
    documents = project.corpus().documents
    found = project.opinion_entities(name, documents)
    texts = {document.id: document.text for document in documents}
    return [
        (texts[id][e.start : e.end], e.entity_type, e.score, e.method)
        for id, entities in found.items()
        for e in entities
    ]


def test_opinion_is_kept_under_its_name(project):
    assert project.opinions() == [] and project.opinions_key() == ""
    assert add(project, name=" My  GPT ") == []
    [opinion] = project.opinions()
    assert (opinion.name, opinion.files) == ("My GPT", ("predicted.csv",))
    assert (opinion.documents, opinion.entities) == (2, 2)
    expected = [("gout", "Disease", 0.9, "My GPT"), ("rash", "Sign", None, "My GPT")]
    assert spans(project, "My GPT") == expected


@pytest.mark.parametrize(
    ("file", "data"),
    [
        ("p.jsonl", b'{"text": "No rash.", "spans": [{"start": 3, "end": 7, "label": "Sign"}]}'),
        ("p.conll", b"No O\nrash B-Sign\n. O\n"),
        ("p.pubtator", b"b|t|No rash.\nb\t3\t7\trash\tSign\n"),
    ],
)
def test_opinion_is_read_from_other_formats(project, file, data):
    add(project, data, file=file)
    assert [(text, kind) for text, kind, _, _ in spans(project)] == [("rash", "Sign")]


def test_opinion_of_the_same_name_is_replaced_and_can_be_removed(project):
    add(project)
    key = project.opinions_key()
    add(project, CSV.replace(b"Sign", b"Symptom"))
    assert project.opinions_key() != key and len(project.opinions()) == 1
    assert spans(project)[1][1] == "Symptom"
    project.remove_opinion("GPT")
    assert project.opinions() == [] and project.opinions_key() == ""
    with pytest.raises(InputError, match='no opinion called "GPT"'):
        project.remove_opinion("GPT")
    with pytest.raises(InputError, match='no opinion called "GPT"'):
        spans(project)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"doc_id,start,end,label\na,7,99,X\n", 'at 7-99 lies outside document "a"'),
        (
            b"doc_id,start,end,label\na,8,12,X\nb,4,8,X\n",
            "predicted.csv: 2 of 2 entities begin or end inside a word of the text "
            r"\(the first at 8-12\)",
        ),
        (b"doc_id,start,end,label\nz,0,2,X\n", "annotates none of these documents"),
        (b"doc_id,start,end,label\n", "."),
        (b"id,text\n1,words only\n", "holds no annotations. Predictions can be"),
    ],
)
def test_entities_that_do_not_fit_are_refused_in_one_sentence(project, data, reason):
    with pytest.raises(InputError, match=reason):
        add(project, data)
    assert project.opinions() == [] and not (project.folder / FOLDER).exists()


def test_some_entities_that_do_not_fit_are_noted(project):
    rows = b"doc_id,start,end,label\na,7,11,X\na,18,21,X\nb,3,7,X\n"
    assert add(project, rows) == ["1 entities began or ended inside a token; widened to it"]


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "gold", "Dictionary", "conf-mpu", "a\0b"])
def test_name_that_cannot_be_used_is_refused(project, name):
    with pytest.raises(InputError, match=r"needs a name|calls something else"):
        add(project, name=name)


def test_project_without_text_has_no_opinions():
    with pytest.raises(InputError, match="has no text yet"):
        add(create_project("Empty"))


def test_entities_of_a_text_that_changed_are_left_out(project):
    add(project)
    [file] = project.text_files()
    project.remove_text(file.id)
    other = TEXT.replace(b"gout and a", b"gout, then a")
    project.add_text([SourceFile("notes.jsonl", other)])
    assert [text for text, *_ in spans(project)] == ["rash"]


@pytest.mark.parametrize("damage", ["{", "[]", '{"name": 1}', "entities"])
def test_damaged_opinion_is_explained(project, damage):
    add(project)
    [path] = (project.folder / FOLDER).iterdir()
    record = json.loads(path.read_text())
    record["documents"]["a"]["entities"][0][0] = -1
    path.write_text(json.dumps(record) if damage == "entities" else damage)
    with pytest.raises(InputError, match=f"{FOLDER}/.* cannot be read .* add the opinion again"):
        project.opinions()


def test_opinions_are_part_of_a_projects_zip(project, tmp_path):
    add(project)
    write_project_zip(project, tmp_path / "p.zip")
    assert spans(import_project_zip(tmp_path / "p.zip")) == spans(project)


def test_options_of_reading_count(project):
    data = b"doc_id,start,end,label\na,7,11,X\na,x,y,X\n"
    with pytest.raises(InputError):
        add(project, data)
    project.add_opinion("GPT", [SourceFile("p.csv", data)], ReadOptions(skip_bad_lines=True))
    assert len(spans(project)) == 1


# ---- as labels --------------------------------------------------------------------------------


def labeled(project):
    labels = labels_of(project)
    entities = dictionary_entities(labels, project.corpus().documents)
    return {(id, e.start, e.entity_type, e.source) for id, es in entities.items() for e in es}


def test_opinion_labels_only_its_own_places(project):
    project.add_text([SourceFile("more.jsonl", b'{"id": "c", "text": "He had gout, too."}')])
    project.add_dictionaries([SourceFile("Sign.txt", b"cold\n")])
    add(project)
    assert project.label_with_opinion("GPT") == project.dictionary_version()
    assert labeled(project) == {
        ("a", 7, "Disease", "GPT (opinion)"),
        ("a", 18, "Sign", "Sign.txt"),
        ("b", 3, "Sign", "GPT (opinion)"),
    }
    again = Project(project.id, project.folder).dictionaries()[-1]
    assert again == project.dictionaries()[-1] and again.places


def test_opinion_has_a_priority_and_is_replaced(project):
    project.add_dictionaries([SourceFile("Pain.txt", b"gout\n")])
    add(project)
    project.label_with_opinion("GPT", -1)
    assert ("a", 7, "Pain", "Pain.txt") in labeled(project)
    project.label_with_opinion("GPT", 1)
    assert ("a", 7, "Disease", "GPT (opinion)") in labeled(project)
    add(project, b"doc_id,start,end,label\nb,3,7,Sign\n")
    project.label_with_opinion("GPT", 1)
    assert ("a", 7, "Pain", "Pain.txt") in labeled(project)
    assert len(project.dictionaries()) == 2


def test_phrases_of_an_opinion_are_muted_and_retyped_like_others(project):
    add(project)
    project.label_with_opinion("GPT")
    row = PhraseRow("GPT (opinion)", "gout", "Disease")
    project.relabel_phrases([row], "Pain")
    assert ("a", 7, "Pain", "GPT (opinion)") in labeled(project)
    project.mute_phrases([row._replace(entity_type="Pain")])
    assert labeled(project) == {("b", 3, "Sign", "GPT (opinion)")}


def test_place_whose_words_changed_does_not_count(project):
    add(project)
    project.label_with_opinion("GPT")
    [file] = project.text_files()
    project.remove_text(file.id)
    project.add_text([SourceFile("notes.jsonl", TEXT.replace(b"gout", b"pain"))])
    assert labeled(project) == {("b", 3, "Sign", "GPT (opinion)")}


def test_opinion_without_entities_here_is_refused(project):
    with pytest.raises(InputError, match='no opinion called "Anna"'):
        project.label_with_opinion("Anna")
