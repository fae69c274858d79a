import pytest

from engine import jobs
from engine.jobs.results import run_card
from engine.run_folder.card import PREDICTIONS
from engine.text.model import InputError
from tests.support.finished_runs import finish_run, make_project


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path))
    return make_project()


def test_results_are_what_the_methods_found_and_their_cards(project):
    job = finish_run(project)
    results = jobs.results(project, job.id)
    assert {method: card.method for method, card in results.cards.items()} == {
        "conf_mpu": "conf_mpu", "mpu": "mpu",
    }  # fmt: skip
    [entities] = results.entities["mpu"].values()
    assert [(e.entity_type, e.score, e.run_id) for e in entities] == [
        ("Disease", 0.97, job.id), ("Disease", 0.8, job.id),
    ]  # fmt: skip


def test_a_method_without_predictions_has_no_results(project):
    job = finish_run(project)
    (jobs.run_folder(job, "mpu") / PREDICTIONS).unlink()
    assert jobs.results(project, job.id).entities.keys() == {"conf_mpu"}


def test_a_card_that_cannot_be_read_is_left_out(project):
    job = finish_run(project)
    (jobs.run_folder(job, "mpu") / "run.json").write_text("{}")
    assert run_card(jobs.run_folder(job, "mpu")) is None
    assert jobs.results(project, job.id).cards.keys() == {"conf_mpu"}


def test_damaged_predictions_are_explained(project):
    job = finish_run(project)
    (jobs.run_folder(job, "mpu") / PREDICTIONS).write_bytes(b"PAR1")
    with pytest.raises(InputError, match="the run is damaged"):
        jobs.results(project, job.id)
