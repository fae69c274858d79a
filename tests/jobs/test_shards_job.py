"""The job that predicts a large corpus: what it may touch, what it keeps, and how it continues."""

import os

import pytest

from engine import jobs
from engine.jobs.worker.process import do_job
from engine.shards.permission import check_allowed
from engine.text.model import InputError
from tests.support.finished_runs import finish_run, make_project
from tests.support.sharding import contents, make_shards, untrained_run


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("GLOSSA_SHARDS", f"{tmp_path / 'corpora'}, s3://bucket/notes")
    monkeypatch.setattr(os, "cpu_count", lambda: 1)  # in this process


@pytest.fixture
def project():
    project = make_project()
    run = finish_run(project, {"mpn": [("gout", "Disease", 0.9)]})
    untrained_run(jobs.run_folder(run, "mpn"))
    return project


def request_for(project, texts, out):
    [run] = jobs.list_jobs(project, "train")
    return jobs.ShardsRequest(run.id, "mpn", str(texts), str(out))


def test_the_corpus_is_predicted_and_its_figures_are_kept(project, tmp_path):
    texts, out = make_shards(tmp_path / "corpora" / "texts", 4), tmp_path / "corpora" / "out"
    (texts / "part-0002.jsonl").write_text("{broken")
    job = jobs.create(project, request_for(project, texts, out))
    assert do_job(project, job.id) == "done"
    figures = jobs.shards_of(project, job.id)
    assert (figures["done"], figures["shards"], figures["documents"]) == (3, 4, 6)
    assert sum(figures["entities"].values()) > 0
    assert "part-0002.jsonl" in figures["faults"][0]
    assert sorted(contents(out)) == [f"part-000{i}.jsonl" for i in (0, 1, 3)]


def test_a_job_without_one_readable_shard_fails_in_one_sentence(project, tmp_path):
    texts = make_shards(tmp_path / "corpora" / "texts", 1)
    (texts / "part-0000.jsonl").write_text("{broken")
    job = jobs.create(project, request_for(project, texts, tmp_path / "corpora" / "out"))
    assert do_job(project, job.id) == "failed"
    assert jobs.get_job(project, job.id).message.startswith("no shard could be done")


def test_a_run_predicts_a_corpus_although_the_project_has_no_text_left(project, tmp_path):
    for file in project.text_files():
        project.remove_text(file.id)
    texts = make_shards(tmp_path / "corpora" / "texts", 1)
    job = jobs.create(project, request_for(project, texts, tmp_path / "corpora" / "out"))
    assert job.state == "queued"


def test_only_named_folders_and_urls_may_be_used(project, tmp_path, monkeypatch):
    inside = str(tmp_path / "corpora" / "a")
    check_allowed([inside, "s3://bucket/notes/a"])
    outside = str(tmp_path / "elsewhere")
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora" / "link").symlink_to(tmp_path)
    for place in (
        outside,
        f"{inside}/../../elsewhere",
        str(tmp_path / "corpora" / "link" / "elsewhere"),
        f"{tmp_path / 'corpora'}2",
        "s3://bucket/notes2",
        "s3://bucket/notes/../secret",
        "file:///etc",
    ):
        with pytest.raises(InputError, match="is not in the folders that the app may use"):
            check_allowed([place])
    with pytest.raises(InputError, match="GLOSSA_SHARDS"):
        jobs.create(project, request_for(project, inside, outside))
    job = jobs.create(project, request_for(project, inside, inside + "-out"))
    monkeypatch.delenv("GLOSSA_SHARDS")  # as in an imported project, on another machine
    assert do_job(project, job.id) == "failed"
