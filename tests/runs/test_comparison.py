"""Methods are compared by real worker processes, as in the app."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from engine.experiment import probabilities, run_context
from engine.network.transformer import contextual_features
from engine.runs import comparison
from engine.runs.comparison import compare, features_folder
from engine.runs.saved import load_run
from engine.system.processes import is_alive, process_of
from engine.text.model import InputError
from engine.text.tokenization import make_tokenized_document
from tests.support.planted import SMALL, Planted
from tests.support.tiny_encoders import save_tiny_bert
from tests.support.waiting import wait_until

METHODS = ("mpn", "mpu", "conf_mpu")


pytestmark = pytest.mark.usefixtures("one_thread")  # as many as a worker has


@pytest.fixture(scope="module")
def planted():
    return Planted(sentence_count=60)


@pytest.fixture(scope="module")
def alone(planted, tmp_path_factory):
    """The runs that one worker makes, one per method."""
    return compare(planted.data, planted.priors, SMALL, METHODS, tmp_path_factory.mktemp("alone"))


def weights(folders):
    return {
        method: (folder / "tagger-0.safetensors").read_bytes() for method, folder in folders.items()
    }


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_one_worker_leaves_a_finished_run_of_each_method(planted, alone):
    assert list(alone) == list(METHODS)
    assert [folder.name for folder in alone.values()] == [f"{m}-seed0" for m in METHODS]
    for method, folder in alone.items():
        trained = load_run(folder)
        assert trained.settings == replace(SMALL, method=method)
        assert probabilities(trained, planted.sentences).shape == (len(planted.labels), 3)
    assert names(alone["mpn"]) == ["lexicon.json", "run.json", "tagger-0.safetensors"]


def test_two_workers_give_the_same_weights_and_both_report(planted, alone, tmp_path):
    heard = []
    folders = compare(
        planted.data, planted.priors, SMALL, METHODS, tmp_path, workers=2, on_progress=heard.append
    )
    assert weights(folders) == weights(alone)
    for method in METHODS:
        reports = [p for p in heard if p.method == method]
        assert [p.epoch.number for p in reports if p.stage == "training"] == [1, 2]
        assert reports[-1].seconds_left == 0


def test_a_finished_run_is_not_trained_again(planted, alone):
    before = {m: (f / "tagger-0.safetensors").stat().st_mtime_ns for m, f in alone.items()}
    heard = []
    root = alone["mpn"].parent
    again = compare(
        planted.data, planted.priors, SMALL, METHODS, root, workers=2, on_progress=heard.append
    )
    assert again == alone
    assert heard == []
    assert before == {m: (f / "tagger-0.safetensors").stat().st_mtime_ns for m, f in again.items()}


def test_stop_leaves_checkpoints_that_a_second_call_resumes(planted, tmp_path):
    settings, methods = replace(SMALL, epochs=30), ("mpn", "mpu")
    arguments = planted.data, planted.priors, settings, methods
    heard = []
    folders = compare(
        *arguments,
        tmp_path / "stopped",
        workers=2,
        on_progress=heard.append,
        should_stop=lambda: len(heard) > 0,
    )
    assert not any((folder / "run.json").exists() for folder in folders.values())
    begun = {method for method, folder in folders.items() if list(folder.glob("checkpoint*"))}
    assert begun == {p.method for p in heard}
    resumed = []
    compare(*arguments, tmp_path / "stopped", on_progress=resumed.append)
    for method in methods:
        done = sum(p.method == method for p in heard)
        numbers = [p.epoch.number for p in resumed if p.method == method]
        assert numbers == list(range(done + 1, 31))
    straight = compare(*arguments, tmp_path / "straight")
    assert weights(folders) == weights(straight)
    assert names(folders["mpn"]) == names(straight["mpn"])


def stop_after(epochs, heard):
    return {"on_progress": heard.append, "should_stop": lambda: len(heard) >= epochs}


@pytest.mark.parametrize(
    "change",
    [{"settings": replace(SMALL, learning_rate=0.02)}, {"priors": np.array([0.7, 0.2, 0.1])}],
    ids=["settings", "priors"],
)
def test_a_checkpoint_of_something_else_is_not_resumed(planted, tmp_path, change):
    arguments = {"data": planted.data, "priors": planted.priors, "settings": SMALL}
    compare(**arguments, methods=["mpn"], folder=tmp_path / "a", **stop_after(1, []))
    (folder,) = compare(**arguments | change, methods=["mpn"], folder=tmp_path / "a").values()
    (fresh,) = compare(**arguments | change, methods=["mpn"], folder=tmp_path / "b").values()
    assert weights({"mpn": folder}) == weights({"mpn": fresh})
    assert names(folder) == names(fresh)


def test_leftovers_of_a_kill_are_deleted_when_the_run_is_finished(planted, tmp_path):
    folder = tmp_path / "mpn-seed0"
    folder.mkdir()
    (folder / ".checkpoint.safetensors.a1b2.part").write_bytes(b"half")
    compare(planted.data, planted.priors, SMALL, ["mpn"], tmp_path)
    assert names(folder) == ["lexicon.json", "run.json", "tagger-0.safetensors"]


def test_a_run_of_other_settings_is_replaced(planted, tmp_path):
    for epochs in (1, 2):
        settings = replace(SMALL, epochs=epochs)
        (folder,) = compare(planted.data, planted.priors, settings, ["mpn"], tmp_path).values()
        assert len(load_run(folder).history) == epochs


def test_stop_before_the_first_method_trains_nothing(planted, tmp_path):
    folders = compare(
        planted.data, planted.priors, SMALL, METHODS, tmp_path, should_stop=lambda: True
    )
    assert not any(folder.exists() for folder in folders.values())


# ---- failures -------------------------------------------------------------------------------


@pytest.fixture
def threads(monkeypatch):
    """Workers that start at once, for tests of failures only."""

    def pool(count, mp_context, initializer):
        return ThreadPoolExecutor(count)

    monkeypatch.setattr(comparison, "ProcessPoolExecutor", pool)


def test_a_failure_in_a_worker_is_raised_here(planted, tmp_path, threads):
    impossible = np.array([0, 0.6, 0.6])
    with pytest.raises(InputError, match="Priors must be > 0"):
        compare(planted.data, impossible, SMALL, ("mpn", "mpu"), tmp_path, workers=2)


def test_a_failure_here_stops_the_workers(planted, tmp_path, threads):
    def fail(_progress):
        raise RuntimeError("the listener is gone")

    arguments = planted.data, planted.priors, replace(SMALL, epochs=5_000), ("mpn", "mpu")
    with pytest.raises(RuntimeError, match="the listener is gone"):
        compare(*arguments, tmp_path, workers=2, on_progress=fail)
    # `compare` ends after its workers; a worker that trains to its end deletes its checkpoint.
    assert list(tmp_path.glob("*/checkpoint*"))


# ---- a killed parent ------------------------------------------------------------------------

# Prints its worker's pid once the worker runs, then waits to be killed.
PARENT = """
import multiprocessing, os, time
from concurrent.futures import ProcessPoolExecutor
from engine.system.processes import end_with_parent
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(1, context, initializer=end_with_parent)
    print(pool.submit(os.getpid).result(), flush=True)
    pool.submit(time.sleep, 3600)
    time.sleep(3600)
"""


def test_workers_end_with_their_parent(tmp_path):
    (tmp_path / "parent.py").write_text(PARENT)
    environment = os.environ | {"PYTHONPATH": os.getcwd()}
    command = [sys.executable, str(tmp_path / "parent.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as parent:
        worker = process_of(int(parent.stdout.readline()))
        assert is_alive(worker)
        parent.kill()
    wait_until(lambda: not is_alive(worker), "the worker's end")


# ---- what a frozen encoder sees -------------------------------------------------------------


@pytest.fixture
def looking(tmp_path):
    """Settings of a network that sees a layer of a frozen encoder."""
    return replace(SMALL, contextual_layer=1, encoder_name=str(save_tiny_bert(tmp_path / "bert")))


@pytest.fixture
def computed(monkeypatch):
    """A record of each time that features are computed in this process."""
    calls = []

    def compute(inputs, *arguments, **options):
        if inputs.token_count > 1:  # loading a run encodes one token, to learn the sizes
            calls.append(inputs.token_count)
        return contextual_features(inputs, *arguments, **options)

    monkeypatch.setattr("engine.network.frozen.contextual_features", compute)
    return calls


@pytest.mark.parametrize("workers", [1, 2])
def test_context_is_computed_once_for_all_methods_and_their_predictions(
    planted, looking, computed, tmp_path, workers
):
    folder = tmp_path / "runs"
    folders = compare(
        planted.data, planted.priors, looking, ("mpn", "mpu"), folder, workers=workers
    )
    kept = list(features_folder(folder).glob("features-*.npy"))
    written = [path.stat().st_ino for path in kept]
    document = make_tokenized_document("all", planted.sentences)
    for run_folder in folders.values():
        trained = load_run(run_folder)
        assert len(run_context(trained, [document], features_folder(folder))) == len(planted.labels)
    assert computed == [len(planted.labels)]
    assert [path.stat().st_ino for path in kept] == written  # no worker wrote it again either


def test_a_comparison_that_is_stopped_at_once_computes_no_context(planted, looking, tmp_path):
    compare(
        planted.data, planted.priors, looking, ("mpn",), tmp_path / "runs", should_stop=lambda: True
    )
    assert not list((tmp_path / "runs").rglob("*.npy"))
    assert not (tmp_path / "runs" / "mpn-seed0").exists()
