import pytest

from engine.cli.command_line import main
from engine.files.sources import SourceFile
from engine.projects.workspace import create_project


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.csv").write_text("doc_id,start,end,label\na,7,11,Disease\n")
    project = create_project("Mine")
    project.add_text([SourceFile("t.jsonl", b'{"id": "a", "text": "He had gout."}')])
    return project


def run(capsys, project, *arguments):
    code = main(["opinion", *arguments, "--project", project.id])
    return code, *capsys.readouterr()


def test_opinion_is_added_listed_and_removed(capsys, project):
    assert run(capsys, project, "list")[1] == "No opinions yet; add one with: glossa opinion add\n"
    code, out, _ = run(capsys, project, "add", "Anna", "p.csv")
    assert code == 0
    assert out == (
        f'1 entities in 1 documents are the opinion "Anna" in project {project.id}. '
        "See Compare and Review.\n"
    )
    out = run(capsys, project, "list")[1]
    assert "Anna" in out and "p.csv" in out
    out = run(capsys, project, "label", "Anna", "--priority", "2")[1]
    assert out.startswith('The opinion "Anna" labels the text of project ')
    assert [(d.name, d.priority) for d in project.dictionaries()] == [("Anna (opinion)", 2)]
    assert run(capsys, project, "remove", "Anna")[0] == 0
    assert project.opinions() == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["remove", "Anna"], 'the project has no opinion called "Anna"'),
        (["add", "gold", "p.csv"], "choose another name"),
        (["add", "Anna", "absent.csv"], "absent.csv cannot be read"),
    ],
)
def test_bad_input_is_explained_in_one_sentence(capsys, project, arguments, sentence):
    code, out, err = run(capsys, project, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("glossa opinion: ") and sentence in err and err.count("\n") == 1
