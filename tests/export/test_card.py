import hashlib
import json
from dataclasses import asdict

import pytest

import glossa
from engine.cli.command_line import main
from engine.export.card import card_path, project_card, write_export_card
from engine.export.choice import DICTIONARY, GOLD, RUN, ExportChoice
from engine.run_folder import new_card
from engine.settings import Settings
from engine.text.model import Corpus
from tests.support.finished_runs import finish_run, make_project


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))
    return make_project()


def card_of(path):
    return json.loads(card_path(path).read_text())


def test_an_export_of_a_run_names_run_settings_dictionaries_and_version(project, tmp_path):
    job = finish_run(project)
    path = tmp_path / "entities.csv"
    arguments = ["export", "--project", project.id, "--least-score", "0.6", "--out", str(path)]
    assert main(arguments) == 0
    card = card_of(path)
    assert card["what"] == "what a trained method found" and card["entities"] == 2
    assert card["project"] == {"id": project.id, "name": "Trial"}
    assert card["dictionaries"]["version"] == 1
    assert card["dictionaries"]["phrases"] == {"Disease.txt": 1, "Chemical.txt": 1}
    assert card["run"]["id"] == job.id and card["run"]["method"] == "conf_mpu"
    assert card["run"]["settings"] == asdict(Settings(method="conf_mpu"))
    assert card["run"]["asked"]["preset"] == "quick"
    assert card["filters"]["least_score"] == 0.6
    assert card["command"].startswith(f"glossa export --project {project.id} --least-score 0.6")
    assert card["glossa"] == new_card("x")["glossa"] and card["made_at"].startswith("20")
    assert card["file"] == {
        "name": "entities.csv",
        "format": "entities",
        "bytes": path.stat().st_size,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }


def test_a_run_keeps_the_dictionary_version_that_it_was_trained_with(project):
    job = finish_run(project)
    project.remove_dictionaries(["Chemical.txt"])
    corpus = Corpus(())
    of_run = project_card(project, ExportChoice(RUN, job.id, "mpu"), job, corpus)
    of_labels = project_card(project, ExportChoice(DICTIONARY), None, corpus)
    assert (of_run["dictionaries"]["version"], of_labels["dictionaries"]["version"]) == (1, 2)
    assert of_run["dictionaries"]["fingerprint"] != of_labels["dictionaries"]["fingerprint"]
    assert "run" not in of_labels and "run" not in project_card(
        project, ExportChoice(GOLD), None, corpus
    )


def test_files_of_one_name_have_a_card_each(project, tmp_path):
    for name in ("labels.csv", "labels.conll"):
        arguments = ["export", "--project", project.id, "--dictionary-labels"]
        assert main([*arguments, "--out", str(tmp_path / name)]) == 0
        assert card_of(tmp_path / name)["file"]["name"] == name


def test_label_and_convert_write_a_card(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("He had gout.")
    (tmp_path / "Disease.txt").write_text("gout\n")
    arguments = ["label", "notes.txt", "--dictionary", "Disease.txt", "--out", "labels.jsonl"]
    assert main(arguments) == 0
    card = card_of("labels.jsonl")
    assert card["text"]["files"] == ["notes.txt"] and card["matching"] == "adaptive"
    assert card["dictionaries"]["phrases"] == {"Disease.txt": 1}
    assert main(["convert", "labels.jsonl", "--out", "labels.conll"]) == 0
    assert card_of("labels.conll")["command"] == "glossa convert labels.jsonl --out labels.conll"


def test_a_card_without_room_does_not_lose_the_result(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.jsonl").write_text('{"text": "He had gout."}')
    card_path("out.conll").mkdir()  # in the way
    assert main(["convert", "notes.jsonl", "--out", "out.conll"]) == 0
    assert (tmp_path / "out.conll").is_file()
    assert "note: the result has no card: " in capsys.readouterr().err


def test_a_pipe_gets_no_card(tmp_path):
    write_export_card("/dev/null", new_card("x"), "entities")
    assert not card_path("/dev/null").exists()


def test_python_writes_a_card_if_it_is_told_what_found_the_entities(tmp_path):
    (tmp_path / "notes.txt").write_text("He had gout.")
    (tmp_path / "Disease.txt").write_text("gout\n")
    corpus = glossa.read_corpus(tmp_path / "notes.txt")
    dictionaries = glossa.read_dictionaries(tmp_path / "Disease.txt")
    labeled = glossa.labeled(corpus, glossa.label(corpus, dictionaries))
    path = tmp_path / "labels.csv"
    assert glossa.write_corpus(labeled, path) == 1 and not card_path(path).exists()
    glossa.write_corpus(labeled, path, made_by=dictionaries)
    assert card_of(path)["dictionaries"]["phrases"] == {"Disease.txt": 1}
