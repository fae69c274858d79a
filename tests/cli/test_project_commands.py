"""Commands on projects: they do what the app does."""

import csv
import hashlib
import json
import os
import re
import shutil
import threading
from dataclasses import replace

import pytest

from engine import jobs
from engine.cli.command_line import main
from engine.files.sources import SourceFile, path_source, read_source
from engine.network.device import set_threads
from engine.projects.files import IMPORT_LIMITS
from engine.projects.likely import kept_likely
from engine.projects.store import writing
from engine.projects.workspace import (
    create_project,
    delete_project,
    duplicate_project,
    list_projects,
    open_project,
)
from engine.run_folder.card import PREDICTIONS
from engine.run_folder.predictions import write_predictions
from engine.settings import LIMITS
from engine.text.model import Entity, InputError
from tests.support.counting import watched_memory
from tests.support.finished_runs import finish_run, make_project
from tests.support.small_project import PRIORS, TINY, make_small_project

NOTES = '{"id": "d1", "text": "Aspirin helped against high fever ."}\n'
SMALL = [
    "--preset", "quick", "--methods", "mpn", "--set",
    *(f"{name}={value}" for name, value in TINY.items()),
]  # fmt: skip
GIVEN = ["--priors", *(f"{name}={value}" for name, value in PRIORS.items())]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with files to import and an empty data folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))
    (tmp_path / "notes.jsonl").write_text(NOTES, encoding="utf-8")
    (tmp_path / "Drug.txt").write_text("aspirin\n", encoding="utf-8")
    (tmp_path / "Sign.txt").write_text("fever\n", encoding="utf-8")
    (tmp_path / "gold.csv").write_text(
        "doc_id,start,end,label\nd1,0,7,Drug\nd1,23,33,Sign\n", encoding="utf-8"
    )
    return tmp_path


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A project with a finished run of MPN, its data folder, and the run's id."""
    set_threads(1)
    data = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GLOSSA_DATA", str(data))
        project = make_small_project()
        assert main(["train", "--project", project.id, *SMALL, *GIVEN]) == 0
        [job] = jobs.list_jobs(project, "train")
        yield project, job.id


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def read_rows(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def make_notes(capsys):
    code, out, _ = run(capsys, "import", "--create", "My notes", "--text", "notes.jsonl",
                       "--dictionary", "Drug.txt", "Sign.txt", "--gold", "gold.csv")  # fmt: skip
    assert code == 0
    return re.search(r"in project (\S+) ", out).group(1), out


# ---- import and projects --------------------------------------------------------------------


def test_import_makes_a_project_that_projects_lists(capsys, folder):
    id, out = make_notes(capsys)
    assert out == f'1 documents, 6 tokens and 2 phrases in project {id} ("My notes").\n'
    code, out, _ = run(capsys, "projects")
    assert code == 0
    row = out.splitlines()[2].split()
    assert row[:8] == [id, "My", "notes", "1", "1", "6", "2", "2"]


def test_projects_says_how_to_make_one_when_there_is_none(capsys, folder):
    assert run(capsys, "projects") == (
        0,
        f"No projects in {folder / 'data'}. Make one with: glossa import --create NAME\n",
        "",
    )


def test_import_adds_to_a_project(capsys, folder):
    id, _ = make_notes(capsys)
    (folder / "more.txt").write_text("No rash.", encoding="utf-8")
    code, out, _ = run(capsys, "import", "--project", id, "--text", "more.txt")
    assert (code, out) == (
        0,
        f'2 documents, 9 tokens and 2 phrases in project {id} ("My notes").\n',
    )


@pytest.fixture
def large_notes(folder):
    """A file over the upload limit: two records, then long blank lines, which are cheap to read."""
    path = folder / "large.jsonl"
    with open(path, "w", encoding="utf-8") as out:
        out.write(NOTES + NOTES.replace("d1", "d2"))
        for _ in range(LIMITS.file_mb + 1):
            out.write(" " * 999_999 + "\n")
    yield path
    path.unlink()


def test_a_file_too_large_for_the_browser_is_imported(capsys, folder, large_notes):
    size = large_notes.stat().st_size
    with pytest.raises(InputError, match="the limit is 200 MB per file"):
        read_source(large_notes)
    with watched_memory() as memory:
        assert main(["import", "--create", "Large", "--text", "large.jsonl"]) == 0
    assert memory.peak < size / 4  # it was never held in memory
    assert "2 documents, 12 tokens" in capsys.readouterr().out
    [summary] = list_projects()
    project = open_project(summary.id)
    [stored] = project.text_files()
    assert (stored.name, stored.bytes) == ("large.jsonl", size)
    with open(large_notes, "rb") as file:
        assert stored.sha256 == hashlib.file_digest(file, "sha256").hexdigest()
    shutil.rmtree(project.folder / "cache")
    assert [document.id for document in project.corpus().documents] == ["d1", "d2"]  # read again
    delete_project(project.id)


def test_an_import_has_a_limit_of_its_own(folder):
    project = create_project("Limits")
    notes, drugs = (
        path_source(folder / name, IMPORT_LIMITS) for name in ("notes.jsonl", "Drug.txt")
    )
    allowed, refused = LIMITS.import_mb * 1_000_000, LIMITS.import_mb * 1_000_000 + 600_000
    for add, file in ((project.add_text, notes), (project.add_dictionaries, drugs)):
        with pytest.raises(InputError, match="is 2,001 MB; the limit is 2,000 MB per file"):
            add([replace(file, size=refused)])
        add([replace(file, size=allowed)])
    assert (len(project.text_files()), len(project.dictionaries())) == (1, 1)


def test_a_pipe_is_imported(capsys, folder):
    os.mkfifo(folder / "pipe.jsonl")
    writer = threading.Thread(target=(folder / "pipe.jsonl").write_text, args=(NOTES,))
    writer.start()
    assert main(["import", "--create", "Piped", "--text", "pipe.jsonl"]) == 0
    writer.join()
    assert "1 documents, 6 tokens" in capsys.readouterr().out


def test_a_file_that_cannot_be_read_leaves_no_project(capsys, folder):
    (folder / "bad.jsonl").write_text('{"id": "d1", "text": ', encoding="utf-8")
    code, out, err = run(
        capsys, "import", "--create", "Bad", "--dictionary", "Drug.txt", "--text", "bad.jsonl"
    )
    assert (code, out) == (2, "")
    assert err.startswith("glossa import: bad.jsonl line 1")
    assert list_projects() == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--project", "nothing"],
            "nothing to import: give --text, --dictionary, --never or --gold.",
        ),
        (["--project", "nothing", "--text", "notes.jsonl"], 'there is no project "nothing"'),
        (["--project", "../up", "--text", "notes.jsonl"], "that is no project id"),
        (["--create", "X", "--text", "none.txt"], "none.txt cannot be read: No such file"),
        (["--zip", "notes.jsonl"], "notes.jsonl"),
    ],
)
def test_a_bad_import_is_explained_in_one_sentence(capsys, folder, arguments, sentence):
    code, out, err = run(capsys, "import", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err


# ---- label ----------------------------------------------------------------------------------


def test_label_gives_the_same_for_a_project_as_for_its_files(capsys, folder):
    id, _ = make_notes(capsys)
    files = ["notes.jsonl", "--dictionary", "Drug.txt", "Sign.txt", "--gold", "gold.csv"]
    of_files = run(capsys, "label", *files, "--out", "a.csv")
    of_project = run(capsys, "label", "--project", id, "--out", "b.csv")
    assert of_files[1].replace("a.csv", "b.csv") == of_project[1]
    assert (folder / "a.csv").read_text() == (folder / "b.csv").read_text()


def test_label_uses_the_match_preset_of_the_project_unless_told(capsys, folder):
    id, _ = make_notes(capsys)
    open_project(id).set_match_preset("strict")
    run(capsys, "label", "--project", id, "--out", "strict.csv")
    run(capsys, "label", "--project", id, "--out", "free.csv", "--match", "balanced")
    counts = [len(read_rows(folder / name)) for name in ("strict.csv", "free.csv")]
    assert counts == [1, 2]  # "Aspirin" is not "aspirin"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "name text files and their --dictionary, or a --project."),
        (["notes.jsonl"], "name text files and their --dictionary, or a --project."),
        (["notes.jsonl", "--project", "x"], "leave out TEXT, or add it with"),
        (["--gold", "gold.csv", "--project", "x"], "leave out --gold, or add it with"),
    ],
)
def test_files_and_a_project_do_not_mix(capsys, folder, arguments, sentence):
    code, out, err = run(capsys, "label", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err


def test_the_sample_is_made_when_it_is_asked_for(capsys, folder):
    code, _, _ = run(capsys, "label", "--project", "sample", "--workers", "1")
    assert code == 0
    assert [project.id for project in list_projects()] == ["sample"]


# ---- train and curve ------------------------------------------------------------------------


def test_train_makes_a_run_in_the_project(trained):
    project, run_id = trained
    job = jobs.get_job(project, run_id)
    assert (job.state, job.request["methods"], job.request["priors"]) == ("done", ["mpn"], PRIORS)
    assert (job.folder / "mpn-seed0" / PREDICTIONS).exists()


def test_train_prints_the_comparison_and_resumes_a_job(capsys, trained):
    project, run_id = trained
    with writing(project.folder) as db:
        db.execute("UPDATE jobs SET state = 'interrupted' WHERE id = ?", (run_id,))
    code, out, err = run(capsys, "train", "--project", project.id, "--resume", run_id)
    assert code == 0
    assert "epoch" not in err  # the run was there
    names = [line.split()[0] for line in out.split("against gold")[1].splitlines()[4:6]]
    assert names == ["dictionary", "MPN"]
    assert f"export --project {project.id} --run {run_id} --out entities.csv" in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--priors", "Drug"], '"Drug" is not a type and a share, such as Disease=0.02.'),
        (["--priors", "Drug=0.5"], "priors and entity types differ in Disease"),
        (["--out", "runs"], "runs of a project are kept in it; leave out --out."),
        (["--resume", "20200101-000000-abcd"], 'this project has no job "20200101-000000-abcd"'),
    ],
)
def test_an_impossible_training_is_explained_in_one_sentence(capsys, trained, arguments, sentence):
    project, _ = trained
    code, _, err = run(capsys, "train", "--project", project.id, *SMALL, *arguments)
    assert code == 2
    assert sentence in err.splitlines()[-1]
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--resume", "x", "--out", "runs"], "--use-decisions and --resume need a --project."),
        ([], "name a folder for the runs with --out."),
    ],
)
def test_train_on_files_needs_a_folder_and_no_project(capsys, folder, arguments, sentence):
    code, _, err = run(
        capsys, "train", "notes.jsonl", "--dictionary", "Drug.txt", *SMALL, *arguments
    )
    assert code == 2
    assert sentence in err


def test_curve_stores_its_points_in_the_project_and_in_a_file(capsys, trained, tmp_path):
    project, _ = trained
    path = tmp_path / "curve.csv"
    code, out, _ = run(
        capsys, "curve", "--project", project.id, *SMALL, "--fractions", "100", "--out", path
    )
    assert code == 0
    assert [(row["fraction"], row["method"]) for row in read_rows(path)] == [
        ("100", "dictionary"),
        ("100", "mpn"),
    ]
    [job] = jobs.list_jobs(project, "curve")
    assert len(jobs.curve_points(project, job.id)) == 2
    card = json.loads((tmp_path / "curve.csv.card.json").read_text())
    assert card["curve"]["id"] == job.id and card["command"].startswith("glossa curve --project")
    assert f"Curve {job.id} is in project {project.id}." in out


# ---- export ---------------------------------------------------------------------------------


def test_suggest_is_a_job_of_the_project(capsys, trained, tmp_path):
    project, _ = trained
    bare = ["--set", "word_vectors=none", "contextual_layer=0"]
    out_file = tmp_path / "names.csv"
    code, out, _ = run(capsys, "suggest", "--project", project.id, *bare, "--out", out_file)
    assert code == 0
    [job] = jobs.list_jobs(project, "suggest")
    assert job.state == "done"
    kept = kept_likely(project)
    assert f"About {kept.tokens.count():,} unlabeled tokens are likely entities" in out
    assert read_rows(out_file)
    card = json.loads((tmp_path / "names.csv.card.json").read_text())
    assert card["project"]["id"] == project.id and card["dictionaries"]["version"] == 1
    code, _, err = run(capsys, "suggest", "--project", project.id, "--match", "strict")
    assert code == 2 and "--project brings its own --match" in err


def test_export_writes_what_a_method_found(capsys, trained, tmp_path):
    project, run_id = trained
    path = tmp_path / "entities.csv"
    code, out, _ = run(capsys, "export", "--project", project.id, "--run", run_id, "--out", path)
    assert code == 0
    assert f"Run {run_id}, mpn." in out
    entities = jobs.results(project, run_id).entities["mpn"]
    rows = read_rows(path)
    assert len(rows) == sum(map(len, entities.values()))
    assert {(row["method"], row["run_id"]) for row in rows} <= {("mpn", run_id)}


def test_export_takes_the_latest_run_that_is_done(capsys, trained, tmp_path):
    project, run_id = trained
    _, out, _ = run(capsys, "export", "--project", project.id, "--out", tmp_path / "a.jsonl")
    assert f"Run {run_id}, mpn." in out


def test_export_writes_dictionary_labels_in_any_format(capsys, trained, tmp_path):
    project, _ = trained
    path = tmp_path / "labels.jsonl"
    arguments = ["--dictionary-labels", "--out", path, "--format", "prodigy"]
    code, _, _ = run(capsys, "export", "--project", project.id, *arguments)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert code == 0
    assert any(line["spans"] for line in lines)


def test_export_puts_review_before_the_method(capsys, trained, tmp_path):
    project, _ = trained
    document = next(d for d in project.corpus().documents if d.text.startswith("the patient took"))
    project.add_decision("review", document.id, 4, 11, "Drug", "accepted", source="mpn")
    path = tmp_path / "reviewed.csv"
    code, _, _ = run(capsys, "export", "--project", project.id, "--reviewed", "--out", path)
    assert code == 0
    rows = [row for row in read_rows(path) if row["doc_id"] == document.id]
    patient = next(row for row in rows if row["text"] == "patient")
    assert (patient["method"], patient["review_status"]) == ("review", "accepted")


def test_export_takes_only_the_types_and_documents_asked_for(capsys, trained, tmp_path):
    project, _ = trained
    arguments = ["export", "--project", project.id, "--dictionary-labels"]
    _, _, _ = run(capsys, *arguments, "--out", tmp_path / "all.csv")
    everything = read_rows(tmp_path / "all.csv")
    one_type, one_id = everything[0]["label"], everything[0]["doc_id"]
    wanted = ["--types", one_type, "--documents", one_id.upper()]
    code, _, _ = run(capsys, *arguments, *wanted, "--out", tmp_path / "some.csv")
    expected = [r for r in everything if r["label"] == one_type and one_id in r["doc_id"]]
    assert code == 0
    assert read_rows(tmp_path / "some.csv") == expected
    assert 0 < len(expected) < len(everything)
    _, _, err = run(capsys, *arguments, "--types", "Dug", "--out", tmp_path / "none.csv")
    assert "no entity is of type Dug" in err


def test_export_leaves_out_low_scores(capsys, trained, tmp_path):
    project, run_id = trained
    arguments = ["export", "--project", project.id, "--run", run_id]
    run(capsys, *arguments, "--out", tmp_path / "all.csv")
    everything = read_rows(tmp_path / "all.csv")
    middle = sorted(float(row["score"]) for row in everything)[len(everything) // 2]
    # The file has four decimals, so the limit is just below the number it shows.
    run(capsys, *arguments, "--least-score", middle - 5e-5, "--out", tmp_path / "sure.csv")
    expected = [row for row in everything if float(row["score"]) >= middle]
    assert read_rows(tmp_path / "sure.csv") == expected
    assert len(expected) < len(everything)


@pytest.mark.parametrize("score", ["50", "-0.1", "nan"])
def test_export_refuses_a_score_that_no_entity_can_have(capsys, trained, tmp_path, score):
    project, _ = trained
    path = tmp_path / "a.csv"
    arguments = ["export", "--project", project.id, f"--least-score={score}", "--out", path]
    code, _, err = run(capsys, *arguments)
    assert code == 2 and f"--least-score is between 0 and 1, not {score}" in err
    assert not path.exists()


def test_export_writes_gold(capsys, trained, tmp_path):
    project, _ = trained
    path = tmp_path / "g.csv"
    other = duplicate_project(project.id, "With gold")
    document = other.corpus().documents[0]
    row = f"{document.id},0,3,{document.text[:3]},Drug"
    other.set_gold([SourceFile("gold.csv", f"doc_id,start,end,text,label\n{row}\n".encode())])
    code, _, _ = run(capsys, "export", "--project", other.id, "--gold", "--out", path)
    assert code == 0
    [entity] = read_rows(path)
    assert (entity["doc_id"], entity["start"], entity["label"]) == (document.id, "0", "Drug")


def test_export_of_missing_gold_says_how_to_add_some(capsys, folder):
    (folder / "bare.txt").write_text("No gold here.\n", encoding="utf-8")
    run(capsys, "import", "--create", "Bare", "--text", "bare.txt")
    [project] = list_projects()
    code, out, err = run(capsys, "export", "--project", project.id, "--gold", "--out", "a.csv")
    assert (code, out) == (2, "")
    assert "this project has no gold. Add some on the page Text, or with: glossa" in err


def test_a_zip_of_a_project_can_be_imported_elsewhere(capsys, trained, tmp_path, monkeypatch):
    project, run_id = trained
    path = tmp_path / "project.zip"
    code, out, _ = run(capsys, "export", "--project", project.id, "--zip", path)
    assert (code, out) == (0, f"Wrote project {project.id} to {path}.\n")
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "elsewhere"))
    code, out, _ = run(capsys, "import", "--zip", path)
    assert code == 0
    [copy] = list_projects()
    assert f'Project {copy.id} ("Small") was made' in out
    there = jobs.results(open_project(copy.id), run_id)
    assert there.entities == jobs.results(project, run_id).entities


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "name the file to write with --out, or --zip FILE for the whole project."),
        (["--out", "a.xyz"], 'a file ending in ".xyz" can be written in several ways'),
        (["--out", "a.csv"], "has no finished run. Train one, or export --dictionary-labels."),
        (["--out", "a.csv", "--run", "x"], 'this project has no job "x"'),
    ],
)
def test_a_bad_export_is_explained_in_one_sentence(capsys, folder, arguments, sentence):
    id, _ = make_notes(capsys)
    code, out, err = run(capsys, "export", "--project", id, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err
    assert not (folder / "a.csv").exists()


def test_export_names_the_available_methods(capsys, trained, tmp_path):
    project, run_id = trained
    arguments = ["--method", "mpu", "--out", tmp_path / "a.csv"]
    code, _, err = run(capsys, "export", "--project", project.id, "--run", run_id, *arguments)
    assert (code, err) == (2, f"glossa export: run {run_id} has no mpu; it has mpn.\n")


def test_export_leaves_out_entities_of_removed_text(capsys, trained, tmp_path):
    project, run_id = trained
    other = duplicate_project(project.id, "Other text")
    corpus = other.corpus()
    places = {document.id: (Entity(0, 3, "Drug", method="mpn"),) for document in corpus.documents}
    folder = jobs.run_folder(jobs.get_job(other, run_id), "mpn")
    write_predictions(folder / PREDICTIONS, places)
    for file in other.text_files():
        other.remove_text(file.id)
    other.add_text([SourceFile("new.jsonl", NOTES.replace("d1", "x1").encode())])
    code, _, err = run(capsys, "export", "--project", other.id, "--run", run_id,
                       "--out", tmp_path / "e.csv")  # fmt: skip
    assert code == 0
    assert f"{len(places):,} entities left out: their text is no longer in the project" in err


def test_export_takes_only_runs_of_training(capsys, trained, tmp_path):
    project, run_id = trained
    other = duplicate_project(project.id, "With a prediction")
    request = jobs.PredictRequest(run_id, "mpn", (SourceFile("a.txt", b"Aspirin helped."),))
    job = jobs.create(other, request)
    code, _, err = run(capsys, "export", "--project", other.id, "--run", job.id,
                       "--out", tmp_path / "e.csv")  # fmt: skip
    assert code == 2
    assert (
        err == f"glossa export: job {job.id} is a predict job; --run takes the id of a training.\n"
    )


# ---- status ---------------------------------------------------------------------------------


def test_status_prints_the_checklist_and_the_next_step(folder, capsys):
    project = create_project("Trial")
    assert main(["status", "--project", project.id]) == 0
    said = capsys.readouterr().out
    assert said.startswith("[>] Add text\n[ ] Add a dictionary\n")
    assert "Next: Add text. The documents to find entities in" in said
    assert "In the app: page Text." in said


def test_status_skips_a_step_and_names_the_method_to_take(folder, capsys):
    project = make_project()
    finish_run(project)
    assert main(["status", "--project", project.id, "--skip", "precision", "--compare"]) == 0
    said = capsys.readouterr().out
    assert "[-] Judge 2 matches to know the precision" in said
    assert "[x] Trained with 2 methods" in said
    assert "\nTake Conf-MPU: it keeps" in said


def test_status_says_when_nothing_is_trained(folder, capsys):
    project = create_project("Trial")
    assert main(["status", "--project", project.id, "--compare"]) == 0
    assert "Nothing is trained yet" in capsys.readouterr().out


def test_status_of_a_project_that_is_not_there_is_explained(folder, capsys):
    assert main(["status", "--project", "nowhere-1234"]) == 2
    assert 'glossa status: there is no project "nowhere-1234"' in capsys.readouterr().err


def test_an_export_ticks_its_step(folder, capsys):
    project = make_project()
    finish_run(project)
    assert main(["export", "--project", project.id, "--out", "entities.csv"]) == 0
    capsys.readouterr()
    main(["status", "--project", project.id])
    assert "[x] Exported" in capsys.readouterr().out
