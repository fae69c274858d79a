"""What a training doubts reaches the health of the project's dictionaries."""

from dataclasses import replace

import pytest

from engine import jobs
from engine.jobs.worker import train
from engine.jobs.worker.process import do_job
from engine.labels.likely import DoubtfulPhrase
from engine.projects import health_of, labels_of
from tests.support.small_project import make_small_project, tiny_request

pytestmark = pytest.mark.usefixtures("one_thread")


def test_phrases_that_a_training_doubts_are_listed_without_a_search_for_names(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))
    project = make_small_project()
    labels, sentences = labels_of(project), list(project.corpus().sentences)
    phrase, entity_type = labels.phrases.iloc[labels.kept["phrase"].iloc[0]][
        ["phrase", "entity_type"]
    ]
    doubted = DoubtfulPhrase(phrase, entity_type, 1, "")
    prepare = train.prepare

    def doubting(*inputs, **options):
        return replace(prepare(*inputs, **options), doubtful=(doubted,))

    monkeypatch.setattr(train, "prepare", doubting)
    job = jobs.create(project, tiny_request())
    assert do_job(project, job.id, lambda _: None) == "done"
    found = health_of(project, project.dictionaries(), labels, sentences)
    listed = [e for e in found.entries if e.kind == "contradicted by the text"]
    assert [(phrase, entity_type) in entry.phrases for entry in listed] == [True]
