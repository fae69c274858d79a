"""A project of version 1 (tests/data/project-v1.zip) is opened by today's code without loss."""

import csv
import io
import sqlite3
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

from engine import jobs
from engine.experiment import predict
from engine.files.sources import SourceFile
from engine.formats.catalog import FORMATS
from engine.jobs.worker.process import do_job
from engine.network.device import set_threads
from engine.projects import migrations as project_migrations
from engine.projects.connection import DATABASE
from engine.projects.migrations import SCHEMA_VERSION, TABLES
from engine.projects.project import Project
from engine.projects.workspace import (
    create_project,
    import_project_zip,
    list_projects,
    open_project,
)
from engine.run_folder.card import PREDICTIONS, read_card
from engine.runs.saved import load_run
from engine.settings import ReadOptions
from engine.text.model import InputError

DATA = Path(__file__).parents[1] / "data"
STORED = DATA / "project-v1.zip"
ID = "stored-0001"


@pytest.fixture(autouse=True)
def one_thread():
    set_threads(1)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The stored project as a folder in the data folder, not opened yet."""
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))
    folder = tmp_path / "data" / ID
    with zipfile.ZipFile(STORED) as archive:
        archive.extractall(folder)
    return folder


def tables_of(path):
    """All rows of all tables, by table, with the names of their columns."""
    db = sqlite3.connect(path)
    db.row_factory = sqlite3.Row
    names = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    rows = {
        name: [dict(row) for row in db.execute(f"SELECT rowid AS number, * FROM {name}")]
        for [name] in names
    }
    db.close()
    return rows


def version_of(folder):
    db = sqlite3.connect(folder / DATABASE)
    version = db.execute("PRAGMA user_version").fetchone()[0]
    db.close()
    return version


def csv_entities(folder):
    """The predictions of version 1, by the folder that holds them."""
    read = FORMATS["entities"].read
    return {
        path.parent: dict(read(SourceFile(path.name, path.read_bytes()), ReadOptions()).entities)
        for path in folder.glob("runs/**/predictions.csv")
    }


def job_of(project, kind, state="done"):
    [job] = [job for job in jobs.list_jobs(project, kind) if job.state == state]
    return job


# ---- nothing is lost ------------------------------------------------------------------------


def test_the_stored_project_is_of_version_1(folder):
    assert version_of(folder) == 1 < SCHEMA_VERSION
    assert tables_of(folder / DATABASE).keys() >= TABLES - {"members"}


def test_every_row_of_every_table_survives(folder):
    before = tables_of(folder / DATABASE)
    assert all(before[name] for name in TABLES - {"members"})  # the stored project has rows in each
    open_project(ID)
    assert version_of(folder) == SCHEMA_VERSION
    assert tables_of(folder / DATABASE) == {**before, "members": []}


def test_all_files_survive_but_for_the_form_of_predictions(folder):
    before = {path.relative_to(folder): path.read_bytes() for path in files_in(folder)}
    open_project(ID)
    after = {path.relative_to(folder): path.read_bytes() for path in files_in(folder)}
    converted = {path for path in before if path.name == "predictions.csv"}
    assert len(converted) == 3
    assert before.keys() - after.keys() == converted
    assert after.keys() - before.keys() == {path.with_name(PREDICTIONS) for path in converted}
    assert all(after[path] == before[path] for path in before.keys() & after.keys())


def files_in(folder):
    paths = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in paths if not path.name.startswith(DATABASE)]


def test_predictions_are_those_of_the_csv(folder):
    before = csv_entities(folder)
    rows = [
        row
        for path in folder.glob("runs/**/predictions.csv")
        for row in csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))
    ]
    project = open_project(ID)
    train, predict = job_of(project, "train"), job_of(project, "predict")
    results = jobs.results(project, train.id)
    assert results.entities.keys() == results.cards.keys() == {"conf_mpu", "mpn"}
    for method, entities in results.entities.items():
        assert entities == before[jobs.run_folder(train, method)]
    assert jobs.results(project, predict.id).entities == {"conf_mpu": before[predict.folder]}
    assert dict(jobs.predicted_corpus(project, predict.id).entities) == before[predict.folder]
    # Check without the CSV reader too.
    entities = [
        (id, str(e.start), str(e.end), e.entity_type, f"{e.score:.4f}", e.method, e.run_id,
         {None: "", True: "true", False: "false"}[e.in_dictionary], e.matched_phrase,
         e.canonical_id)
        for by_document in before.values()
        for id, in_document in by_document.items()
        for e in in_document
    ]  # fmt: skip
    columns = ("doc_id", "start", "end", "label", "score", "method", "run_id", "in_dictionary",
               "matched_term", "canonical_id")  # fmt: skip
    assert sorted(entities) == sorted(tuple(row[name] for name in columns) for row in rows)
    assert any(row["canonical_id"] for row in rows)


def test_the_project_reads_the_same_as_before(folder):
    project = open_project(ID)
    assert project.name == "Stored by version 1"
    assert [len(project.corpus().documents), project.match_preset()] == [40, "loose"]
    assert project.choice("unit/example") == {"a": [1, 2.5, None, "ä"]}
    assert sum(map(len, project.gold(project.corpus()).entities.values())) > 0
    assert [version.version for version in project.dictionary_history()] == [5, 4, 3, 2, 1]
    phrases = [[len(d.phrases) for d in project.dictionaries_at(v)] for v in range(1, 6)]
    assert phrases[2] == phrases[4] and sum(phrases[3]) == sum(phrases[4]) - 1
    checks, reviews = project.decisions("check"), project.decisions("review")
    assert [decision.verdict for decision in checks] == [
        "accepted", "rejected", "unsure", "skipped",
    ]  # fmt: skip
    # The last review was undone, so the one before it about the same entity is in force.
    assert [decision.verdict for decision in reviews] == ["edited", "accepted"]
    curve = job_of(project, "curve")
    assert jobs.curve_points(project, curve.id)["fraction"].tolist() == [50, 50, 100, 100]
    assert set(jobs.curve_cells(project, curve.id)["state"]) == {"done"}
    states = {(job.kind, job.state) for job in jobs.list_jobs(project)}
    assert states == {("train", "done"), ("curve", "done"), ("predict", "done"),
                      ("train", "failed"), ("train", "interrupted")}  # fmt: skip
    train = job_of(project, "train")
    assert jobs.results(project, train.id).scores.keys() == {"dictionary", "conf_mpu", "mpn"}
    assert len(jobs.epochs(project, train.id)) == 10 + 20 + 20


def test_a_zip_of_version_1_is_imported(folder):
    expected = tables_of(folder / DATABASE)
    project = import_project_zip(STORED)
    tables = tables_of(project.folder / DATABASE)
    assert version_of(project.folder) == SCHEMA_VERSION
    for name in TABLES - {"facts", "members"}:  # facts hold when the project was changed last
        assert tables[name] == expected[name], name
    assert jobs.results(project, job_of(project, "train").id).entities.keys() == {
        "conf_mpu", "mpn",
    }  # fmt: skip
    assert not list(project.folder.glob(f"{DATABASE}.v*"))


# ---- runs of version 1 ----------------------------------------------------------------------


@pytest.mark.parametrize("method", ["conf_mpu", "mpn"])
def test_runs_of_version_1_predict_what_they_predicted(folder, method):
    project = open_project(ID)
    train = job_of(project, "train")
    trained = load_run(jobs.run_folder(train, method))
    documents = project.corpus().documents
    predicted = predict(trained, documents, train.id)
    kept = jobs.results(project, train.id).entities[method]
    places = {(id, e.start, e.end, e.entity_type) for id, es in predicted.items() for e in es}
    assert places == {(id, e.start, e.end, e.entity_type) for id, es in kept.items() for e in es}
    scores = [e.score for id in kept for e in predicted[id]]
    assert np.allclose(scores, [e.score for es in kept.values() for e in es], atol=2e-4)


def test_a_run_of_the_command_line_predicts_what_it_predicted(tmp_path, folder):
    with zipfile.ZipFile(DATA / "run-layout-2.zip") as archive:
        archive.extractall(tmp_path / "runs")
    run = tmp_path / "runs" / "conf_mpu-seed0"
    data = (run / "predictions.csv").read_bytes()
    kept = FORMATS["entities"].read(SourceFile("p.csv", data), ReadOptions()).entities
    assert read_card(run).method == "conf_mpu"
    predicted = predict(load_run(run), open_project(ID).corpus().documents, run.name)
    places = {(id, e.start, e.end, e.entity_type) for id, es in predicted.items() for e in es}
    assert places == {(id, e.start, e.end, e.entity_type) for id, es in kept.items() for e in es}


def test_a_migrated_project_can_be_worked_on(folder):
    project = open_project(ID)
    train = job_of(project, "train")
    file = SourceFile("new.txt", project.corpus().documents[0].text.encode())
    job = jobs.create(project, jobs.PredictRequest(train.id, "mpn", (file,)))
    assert do_job(project, job.id) == "done"
    assert (job.folder / PREDICTIONS).exists()


# ---- how it is done -------------------------------------------------------------------------


def test_a_new_project_has_all_tables_from_the_start(folder):
    project = create_project("New")
    assert version_of(project.folder) == SCHEMA_VERSION
    assert tables_of(project.folder / DATABASE).keys() >= TABLES
    assert jobs.list_jobs(project) == []


def test_a_project_of_version_1_that_never_had_a_job(folder):
    db = sqlite3.connect(folder / DATABASE)
    for name in TABLES:
        if name.startswith("job"):
            db.execute(f"DROP TABLE {name}")
    db.commit()
    db.close()
    assert jobs.list_jobs(open_project(ID)) == []
    assert tables_of(folder / DATABASE).keys() >= TABLES - {"members"}


def test_the_list_of_projects_opens_it_too(folder):
    [summary] = list_projects()
    assert (summary.name, summary.problem) == ("Stored by version 1", "")
    assert summary.last_job == "train interrupted"


def test_a_failed_step_changes_nothing(folder, monkeypatch):
    def fail(*_):
        raise RuntimeError("a defect")

    before = tables_of(folder / DATABASE)
    monkeypatch.setattr(project_migrations, "_STEPS", (*project_migrations._STEPS[:2], fail))
    with pytest.raises(RuntimeError, match="a defect"):
        open_project(ID)
    assert version_of(folder) == 1
    assert tables_of(folder / DATABASE) == tables_of(folder / f"{DATABASE}.v1") == before
    assert len(csv_entities(folder)) == 3
    monkeypatch.undo()
    monkeypatch.setenv("GLOSSA_DATA", str(folder.parent))
    open_project(ID)
    assert version_of(folder) == SCHEMA_VERSION
    assert not (folder / f"{DATABASE}.v1").exists()


def test_steps_raise_the_version_one_by_one(folder, monkeypatch):
    seen = []

    def note(db, folder):
        seen.append(db.execute("PRAGMA user_version").fetchone()[0])

    monkeypatch.setattr(project_migrations, "_STEPS", (note, note, note, note))
    assert Project(ID, folder).name
    assert seen == [1, 2, 3]


def test_predictions_that_cannot_be_read_stay_as_they_are(folder):
    [path] = folder.glob("runs/*/mpn-seed0/predictions.csv")
    path.write_text("doc_id,start,end,label\nd,9,7,Drug\n")
    project = open_project(ID)
    assert path.exists()
    assert jobs.results(project, job_of(project, "train").id).entities.keys() == {"conf_mpu"}


def test_a_foreign_database_is_not_touched(folder):
    (folder / DATABASE).unlink()
    db = sqlite3.connect(folder / DATABASE)
    db.execute("CREATE TABLE bookmarks (url)")
    db.execute("PRAGMA user_version = 1")
    db.commit()
    db.close()
    before = (folder / DATABASE).read_bytes()
    with pytest.raises(InputError, match="damaged or no project of Glossa"):
        open_project(ID)
    assert (folder / DATABASE).read_bytes() == before


def test_a_folder_that_cannot_be_written_is_explained_in_one_sentence(folder, monkeypatch):
    # Root may write anywhere, so the connection is what cannot.
    def read_only(path):
        db = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)
        db.row_factory = sqlite3.Row
        return db

    monkeypatch.setattr(project_migrations, "open_to_write", read_only)
    with pytest.raises(InputError, match=r"made by an older Glossa .* cannot be written") as caught:
        open_project(ID)
    assert "\n" not in str(caught.value)
    assert version_of(folder) == 1


def test_openers_at_the_same_time_wait_and_migrate_once(folder, monkeypatch):
    convert, calls, begun = project_migrations._STEPS[2], [], threading.Event()

    def slow(db, folder):
        calls.append(1)
        begun.set()
        all_opening.wait()
        convert(db, folder)

    all_opening = threading.Barrier(2)
    steps = (*project_migrations._STEPS[:2], slow, *project_migrations._STEPS[3:])
    monkeypatch.setattr(project_migrations, "_STEPS", steps)
    names = []
    threads = [
        threading.Thread(target=lambda: names.append(Project(ID, folder).name)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    assert begun.wait(60)
    all_opening.wait(60)
    for thread in threads:
        thread.join()
    assert names == ["Stored by version 1"] * 4
    assert calls == [1]
    assert version_of(folder) == SCHEMA_VERSION
