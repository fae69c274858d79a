"""The results that ship with the sample: they fit today's code and text, and they work."""

import json

import pytest

from engine import jobs
from engine.jobs.origin import names_of_run, names_to_ask
from engine.projects.likely import kept_likely, likely_basis
from engine.projects.sample import SAMPLE_LIKELY, SAMPLE_ZIP
from engine.projects.workspace import (
    SAMPLE_ID,
    delete_project,
    open_project,
    reset_sample,
    sample_project,
    untrained_sample,
)
from engine.settings import METHODS
from sample_data import make


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))


def job_of(project, kind):
    [job] = jobs.list_jobs(project, kind)
    assert job.state == "done"
    return job


# ---- stale or not ---------------------------------------------------------------------------


def test_the_results_were_made_with_this_text_and_code():
    changed = ", ".join(make.stale())
    assert not changed, f"changed since sample_data/project.zip was made: {changed}; `make sample`"


@pytest.mark.parametrize("name", ["text", "dictionaries", "settings of the preset", "code"])
def test_other_text_or_code_makes_the_results_stale(name, tmp_path, monkeypatch):
    about = tmp_path / "project.json"
    about.write_text(json.dumps(make.fingerprints() | {name: "another"}), encoding="utf-8")
    monkeypatch.setattr(make, "ABOUT", about)
    assert make.stale() == [name]


def test_comments_and_docstrings_do_not_make_the_results_stale():
    code = '"""About."""\n\n\ndef f(x):\n    """Say more.\n\n    And more.\n    """\n    return x\n'
    other = "def f(x):\n    # Why.\n\n    return x  # that is it\n"
    assert make.statements(code) == make.statements(other) == "def f(x):\n    return x"
    assert make.statements(code) != make.statements(code.replace("return x", "return -x"))
    assert "#" in make.statements('a = "# no comment"\n')


def test_the_results_are_small():
    assert SAMPLE_ZIP.stat().st_size < 4_000_000


# ---- what a first visit finds ---------------------------------------------------------------


def test_three_methods_are_trained_and_scored():
    project = sample_project()
    run = job_of(project, "train")
    found = jobs.results(project, run.id)
    assert set(found.entities) == set(found.cards) == set(METHODS)
    assert found.scores["conf_mpu"]["overall"]["f1"] > found.scores["dictionary"]["overall"]["f1"]
    assert set(jobs.epochs(project, run.id)["method"]) == set(METHODS)
    assert run.labels_key == project.labels_key()  # else pages would call the run outdated


def test_the_curve_has_five_shares_and_no_weights():
    project = sample_project()
    curve = job_of(project, "curve")
    points = jobs.curve_points(project, curve.id)
    assert sorted(set(points["fraction"])) == [20, 40, 60, 80, 100]
    assert set(points["method"]) == {"dictionary", *METHODS}
    assert set(jobs.curve_cells(project, curve.id)["state"]) == {"done"}
    assert not list(curve.folder.glob("**/*.safetensors"))


def test_likely_names_are_those_of_the_text_as_it_is():
    project = sample_project()
    kept = kept_likely(project)
    assert kept is not None and kept.basis == likely_basis(project)
    assert kept.tokens.count() > 100
    assert not (project.folder / SAMPLE_LIKELY).exists()


def test_decisions_are_stored():
    verdicts = {decision.verdict for decision in sample_project().decisions("review")}
    assert {"accepted", "rejected"} <= verdicts


def test_a_prediction_is_stored():
    project = sample_project()
    corpus = jobs.predicted_corpus(project, job_of(project, "predict").id)
    assert len(corpus.documents) == 3
    assert all(corpus.entities[document.id] for document in corpus.documents)


def test_the_stored_weights_find_again_what_is_stored():
    from engine.experiment import predict
    from engine.runs.saved import load_run

    project = sample_project()
    corpus = jobs.predicted_corpus(project, job_of(project, "predict").id)
    stored = {(id, e.start, e.end, e.entity_type) for id, es in corpus.entities.items() for e in es}
    trained = load_run(jobs.run_folder(job_of(project, "train"), "conf_mpu"))
    again = predict(trained, corpus.documents, "again")
    found = {(id, e.start, e.end, e.entity_type) for id, es in again.items() for e in es}
    # The weights that ship are rounded to 16 bits, so a close call may fall the other way.
    assert len(found ^ stored) <= 0.02 * len(stored)


@pytest.mark.parametrize("method", ["mpn", "mpu"])
def test_the_other_methods_can_predict_too(method):
    from engine.experiment import predict
    from engine.runs.saved import load_run

    project = sample_project()
    documents = project.corpus().documents[:2]
    trained = load_run(jobs.run_folder(job_of(project, "train"), method))
    assert all(predict(trained, documents, "again").values())


def test_nothing_of_the_sample_counts_as_imported():
    project = sample_project()
    assert not list(project.folder.rglob("imported.json"))
    run = job_of(project, "train")
    assert not any(names_to_ask(project, job) for job in jobs.list_jobs(project))
    assert not any(names_of_run(run, method) for method in METHODS)


def test_nothing_says_on_which_machine_it_was_made():
    with sample_project().reading() as db:
        assert {tuple(row) for row in db.execute("SELECT pid, began, host, place FROM jobs")} == {
            (0, "", "", "")
        }
        assert db.execute("SELECT count(*) FROM job_speeds").fetchone()[0] == 0


# ---- earlier samples ------------------------------------------------------------------------


def test_a_sample_of_an_earlier_version_is_kept_until_it_is_reset():
    earlier = untrained_sample()
    earlier.rename("My sample")
    assert sample_project().name == "My sample"
    assert jobs.list_jobs(open_project(SAMPLE_ID)) == []
    reset = reset_sample()
    assert reset.name == "Sample: medical abstracts"
    assert {job.kind for job in jobs.list_jobs(reset)} == {"train", "suggest", "curve", "predict"}


def test_text_dictionaries_and_gold_are_those_of_the_files():
    shipped = sample_project()
    keys = (shipped.text_key(), shipped.dictionary_key(), shipped.gold_key())
    delete_project(SAMPLE_ID)
    plain = untrained_sample()
    assert (plain.text_key(), plain.dictionary_key(), plain.gold_key()) == keys
