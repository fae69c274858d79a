"""Predicting in copies of this process: the same entities, in the order of the text."""

import multiprocessing
import os
import sys
from dataclasses import replace

import pytest

from engine.experiment import predict
from engine.runs import prediction
from engine.runs.prediction import CutTokens, predict_stream
from engine.runs.saved import load_run
from engine.text.tokenization import make_document
from tests.support.untrained_runs import LEXICON, PLAIN, TEXTS, save_untrained

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="copies need Linux")

DOCUMENTS = [make_document(f"d{i}", TEXTS[i % 3]) for i in range(30)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return load_run(save_untrained(tmp_path_factory.mktemp("runs") / "run", PLAIN, LEXICON))


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    monkeypatch.setattr(prediction, "_TOKENS_PER_WORKER", 60)
    # The runner of the tests may have threads of its own.
    monkeypatch.setattr(prediction, "_can_fork", lambda _: True)


def found(trained, workers, documents=DOCUMENTS):
    cut = CutTokens(trained)
    pairs = predict_stream(trained, documents, "run", cut, workers=workers)
    return [(d.id, [(e.start, e.end, e.entity_type) for e in es]) for d, es in pairs], cut.notes


def test_workers_find_the_same_in_the_same_order(trained):
    one, several = found(trained, 1), found(trained, 3)
    assert several == one
    assert [id for id, _ in one[0]] == [d.id for d in DOCUMENTS]
    assert sum(len(entities) for _, entities in one[0]) > 50


def note_process(trained, documents, run_id):
    """Return no entities but one, whose type is the process that looked for it."""
    entities = predict(trained, documents, run_id)
    mark = str(os.getpid())
    return {id: tuple(replace(e, entity_type=mark) for e in es) for id, es in entities.items()}


def processes(trained, workers, documents):
    return {kind for _, entities in found(trained, workers, documents)[0] for *_, kind in entities}


def test_a_short_text_stays_in_this_process(trained, monkeypatch):
    monkeypatch.setattr(prediction, "predict", note_process)
    assert processes(trained, 3, DOCUMENTS[:1]) == {str(os.getpid())}
    assert str(os.getpid()) not in processes(trained, 3, DOCUMENTS)


def test_only_a_few_groups_are_read_ahead(trained):
    read = []

    def stream():
        for document in DOCUMENTS:
            read.append(document.id)
            yield document

    pairs = predict_stream(trained, stream(), "run", CutTokens(trained), workers=2)
    next(pairs)
    assert len(read) < len(DOCUMENTS)
    pairs.close()


def die_in_a_copy(trained, documents, run_id):
    if multiprocessing.parent_process() is not None:
        os._exit(1)
    return predict(trained, documents, run_id)


def test_what_a_killed_worker_leaves_is_done_here(trained, monkeypatch):
    expected = found(trained, 1)
    monkeypatch.setattr(prediction, "predict", die_in_a_copy)
    assert found(trained, 2) == expected


@pytest.mark.parametrize("taken", [0, 1, 5])
def test_a_pool_that_takes_no_more_loses_no_document(trained, monkeypatch, taken):
    submit, calls = prediction.ProcessPoolExecutor.submit, []

    def refuse(pool, *args):
        calls.append(args)
        if len(calls) > taken:
            raise prediction.BrokenProcessPool("a worker died a moment ago")
        return submit(pool, *args)

    expected = found(trained, 1)
    monkeypatch.setattr(prediction.ProcessPoolExecutor, "submit", refuse)
    assert found(trained, 2) == expected


def test_an_error_in_a_worker_is_raised_here(trained, monkeypatch):
    def fail(*_):
        raise ValueError("a fault")

    monkeypatch.setattr(prediction, "predict", fail)
    with pytest.raises(ValueError, match="a fault"):
        found(trained, 2)
