"""The job that makes a fast twin, and predictions by it."""

from dataclasses import replace

import pytest

from engine import jobs
from engine.files.sources import SourceFile
from engine.jobs.worker.process import do_job
from engine.learning.twin import twin_settings
from engine.network.device import set_threads
from engine.run_folder.card import read_card
from engine.text.model import InputError
from tests.support.small_project import make_small_project, tiny_request
from tests.support.tiny_encoders import save_tiny_bert


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))
    set_threads(1)


@pytest.fixture
def project():
    return make_small_project()


def done(project, request):
    job = jobs.create(project, request)
    do_job(project, job.id, lambda _: None)
    return jobs.get_job(project, job.id)


def test_a_twin_lies_in_the_folder_of_its_run_and_predicts(project, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "engine.experiment.twin_settings",
        lambda settings, tokens: replace(
            twin_settings(settings, tokens), epochs=1, hidden_size=8, batch_size=8
        ),
    )
    encoder = {"contextual_layer": 1, "encoder_name": str(save_tiny_bert(tmp_path))}
    run = done(project, tiny_request(settings=encoder))
    text = (SourceFile("new.txt", b"Take aspirin for the rash."),)
    fast = jobs.PredictRequest(run.id, "mpn", text, is_fast=True)
    with pytest.raises(InputError, match="has no fast twin"):
        jobs.create(project, fast)
    job = done(project, jobs.TwinRequest(run.id, "mpn"))
    assert (job.state, job.message, job.share) == ("done", "", 1.0)
    card = read_card(jobs.twin_folder(run, "mpn"))
    assert card.made_from["twin_of"] == "mpn-seed0" and card.settings.contextual_layer == 0
    predicted = done(project, fast)
    assert (predicted.state, predicted.message) == ("done", "")
    assert predicted.request["is_fast"] is True


def test_a_run_without_a_transformer_says_that_it_needs_no_twin(project):
    run = done(project, tiny_request())
    job = done(project, jobs.TwinRequest(run.id, "mpn"))
    assert job.state == "failed" and "has no transformer" in job.message
    with pytest.raises(InputError, match="has no trained mpu"):
        jobs.create(project, jobs.TwinRequest(run.id, "mpu"))
