"""Shards on a real Ray cluster of several nodes on this machine; `make test-cluster` runs it."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from engine.files.sources import read_source
from engine.formats.reading import read_corpus
from engine.settings import MATCH_PRESETS
from engine.shards.cells import train_on_cluster
from engine.shards.executors import LocalExecutor
from engine.shards.jobs import label_shards, predict_shards
from engine.shards.ray_workers import RayExecutor, check_address
from engine.shards.shards import ShardOptions, find_shards
from engine.shards.tasks import LabelTask
from engine.shards.work import run_stage
from engine.text.model import InputError
from tests.support.sharding import (
    SETTINGS,
    DeadlyTask,
    FullNodeTask,
    GatedTask,
    TracedTask,
    contents,
    make_dictionaries,
    make_shards,
    untrained_run,
    write_dictionaries,
)
from tests.support.waiting import LIMIT, wait_until

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
ROOT = Path(__file__).parents[2]
STORE = 80_000_000  # bytes of shared memory per node
SHARDS = 300
WITHOUT_GLOSSA = """
import sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "engine":
            raise ModuleNotFoundError("No module named 'engine'", name="engine")

sys.meta_path.insert(0, Finder())
"""
MATCH = MATCH_PRESETS["strict"]


def in_the_end(start):
    """Ray gives a node 30 seconds to start, which is too short on a busy machine."""
    for _ in range(9):
        try:
            return start()
        except Exception as error:
            if "timed out during startup" not in str(error):
                raise
    return start()


def add_node(cluster, **options):
    return in_the_end(lambda: cluster.add_node(num_cpus=1, object_store_memory=STORE, **options))


@pytest.fixture(scope="module")
def cluster():
    """Two nodes with one core each; more are added by the tests that end them."""
    from ray.cluster_utils import Cluster

    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(ROOT)  # what an installed package does on a real node
    node = {"num_cpus": 1, "object_store_memory": STORE}
    cluster = in_the_end(
        lambda: Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    )
    add_node(cluster)
    yield cluster
    cluster.shutdown()
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    return make_shards(tmp_path_factory.mktemp("corpus") / "texts", SHARDS)


@pytest.fixture(scope="module")
def labels_here(texts, tmp_path_factory):
    """The labels of one machine, and the report on them."""
    options = ShardOptions(str(tmp_path_factory.mktemp("labels") / "out"))
    result = label_shards([str(texts)], make_dictionaries(), options, LocalExecutor())
    return contents(Path(options.out)), result


def strict_task(texts, out):
    options = ShardOptions(str(out))
    options.store.write("_glossa/job.json", b"{}")
    task = LabelTask(make_dictionaries(), MATCH, options, None)
    return task, find_shards([str(texts)], options)


@pytest.fixture(scope="module")
def strict_labels(texts, tmp_path_factory):
    out = tmp_path_factory.mktemp("strict") / "out"
    run_stage(*strict_task(texts, out), LocalExecutor())
    return contents(out)


def test_labels_of_the_cluster_are_those_of_one_machine(cluster, texts, labels_here, tmp_path):
    options = ShardOptions(str(tmp_path / "out"))
    with RayExecutor(cluster.address, seconds=LIMIT) as executor:
        result = label_shards([str(texts)], make_dictionaries(), options, executor)
    expected, here = labels_here
    assert contents(tmp_path / "out") == expected and len(expected) == SHARDS
    assert (result.done, result.faults, result.notes) == (SHARDS, (), ())
    for name in ("coverage", "cases", "documents", "abbreviations", "first_abbreviations"):
        assert getattr(result.report, name) == getattr(here.report, name)
    for name in ("by_type", "by_dictionary", "conflicts", "added"):
        assert getattr(result.report, name).equals(getattr(here.report, name)), name


def test_predictions_of_the_cluster_are_those_of_one_machine(cluster, texts, tmp_path):
    run_folder = untrained_run(tmp_path / "mpn-seed0")
    few = tmp_path / "few"
    few.mkdir()
    for path in sorted(texts.iterdir())[:40]:
        shutil.copy(path, few)
    here = predict_shards(
        [str(few)], run_folder, ShardOptions(str(tmp_path / "here")), LocalExecutor()
    )
    with RayExecutor(cluster.address, seconds=LIMIT) as executor:
        there = predict_shards(
            [str(few)], run_folder, ShardOptions(str(tmp_path / "there")), executor
        )
    assert contents(tmp_path / "there") == contents(tmp_path / "here")
    assert there.report.entities == here.report.entities > 0


def test_a_killed_worker_and_a_killed_node_lose_nothing(cluster, texts, strict_labels, tmp_path):
    """One worker kills itself; another is killed from outside; then a whole node goes."""
    task, shards = strict_task(texts, tmp_path / "out")
    traces = tmp_path / "traces"
    traces.mkdir()
    task = DeadlyTask(TracedTask(task, traces), [shards[20].name], tmp_path / "died")
    third = add_node(cluster)
    seen = []
    with RayExecutor(cluster.address, seconds=LIMIT) as executor:
        for shard, _ in executor.run(task, shards):
            seen.append(shard.name)
            if len(seen) == 40:
                pids = sorted({int(path.suffix[1:]) for path in traces.iterdir()})
                os.kill(next(pid for pid in pids if _is_running(pid)), signal.SIGKILL)
            if len(seen) == 80:
                cluster.remove_node(third, allow_graceful=False)
    assert (tmp_path / "died").exists()
    assert sorted(seen) == [shard.name for shard in shards]  # nothing lost, nothing twice
    assert contents(tmp_path / "out") == strict_labels


def _is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_driver_that_was_killed_continues_after_what_is_finished(
    cluster, texts, labels_here, tmp_path
):
    out = tmp_path / "out"
    dictionaries = write_dictionaries(tmp_path / "dictionaries")
    command = [sys.executable, "-m", "engine", "label", str(texts), "--dictionary", *dictionaries]
    command += ["--out", str(out), "--engine", "ray", "--address", cluster.address]
    driver = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    records = out / "_glossa" / "label"
    wait_until(lambda: records.is_dir() and len(list(records.iterdir())) > 5, "finished shards")
    driver.kill()
    driver.wait()
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("*.jsonl")}
    finished = [path.name.removesuffix(".json") for path in records.glob("[!.]*.json")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert f"Wrote {SHARDS} of {SHARDS} shards" in done.stdout
    assert contents(out) == labels_here[0]
    after = {path.name: path.stat().st_mtime_ns for path in out.glob("*.jsonl")}
    assert finished and all(before[name] == after[name] for name in finished)


def test_a_node_with_a_full_disk_is_left_out(cluster, texts, strict_labels, tmp_path):
    task, shards = strict_task(texts, tmp_path / "out")
    import ray

    with RayExecutor(cluster.address, seconds=LIMIT) as executor:
        full = next(node["NodeID"] for node in ray.nodes() if node["Alive"])
        stage = run_stage(FullNodeTask(task, full), shards[:20], executor)
    assert (len(stage.records), stage.faults) == (20, ())
    [note] = executor.notes
    assert "is left out: " in note and "No space left on device" in note
    with (
        RayExecutor(cluster.address, seconds=LIMIT) as executor,
        pytest.raises(InputError) as failed,
    ):
        everywhere = [FullNodeTask(task, node["NodeID"]) for node in ray.nodes() if node["Alive"]]
        run_stage(FullNodeTask(everywhere[0], everywhere[1].node), shards, executor)
    assert "no node of the cluster can work" in str(failed.value)
    assert "20 of 300 shards are finished and are kept" in str(failed.value)


def test_a_node_that_lacks_glossa_is_left_out(cluster, texts, tmp_path):
    task, shards = strict_task(texts, tmp_path / "out")
    poor = tmp_path / "poor"
    poor.mkdir()
    (poor / "sitecustomize.py").write_text(WITHOUT_GLOSSA)
    node = add_node(cluster, env_vars={"PYTHONPATH": str(poor)})
    stages = []
    try:
        with RayExecutor(cluster.address, seconds=LIMIT) as executor:
            gated = GatedTask(task, tmp_path / "gate")  # until all nodes have answered
            work = threading.Thread(
                target=lambda: stages.append(run_stage(gated, shards[:10], executor)), daemon=True
            )
            work.start()
            wait_until(lambda: executor.notes, "a note on the node")
            gated.gate.touch()
            work.join()
    finally:
        cluster.remove_node(node)
    assert len(stages[0].records) == 10
    [note] = executor.notes
    assert note.endswith('engine is not installed there. Run: pip install "glossa[ray,train]"')


def test_a_node_that_does_not_see_the_folder_is_named(cluster, texts, tmp_path):
    task, shards = strict_task(texts, tmp_path / "out")
    (tmp_path / "out" / "_glossa" / "job.json").unlink()
    with (
        RayExecutor(cluster.address, seconds=LIMIT) as executor,
        pytest.raises(InputError, match=r"it does not see .*Use a folder that all nodes share"),
    ):
        run_stage(task, shards, executor)


def test_cells_of_a_curve_trained_on_the_cluster_are_those_of_one_machine(
    cluster, texts, tmp_path, one_thread
):
    from engine.runs.comparison import ready_tasks
    from engine.runs.curve import CurvePlan, coverage_curve

    files = [read_source(path) for path in sorted(texts.iterdir())[:30]]
    documents, dictionaries = read_corpus(files).documents, make_dictionaries()
    settings = replace(SETTINGS, epochs=2, is_label_checked=False)
    plan = CurvePlan([50, 100], ["mpn"], [0, 1], settings, "balanced")
    here = coverage_curve(documents, dictionaries, plan, tmp_path / "here")
    trained, epochs = [], []
    with RayExecutor(cluster.address, seconds=LIMIT):
        there = coverage_curve(
            documents,
            dictionaries,
            plan,
            tmp_path / "there",
            on_progress=epochs.append,
            train_elsewhere=lambda tasks: train_on_cluster(ready_tasks(tasks), trained.append),
        )
    assert (len(trained), epochs) == (4, [])  # all cells there, no epoch here
    assert [replace(point, seconds=0) for point in there] == [
        replace(point, seconds=0) for point in here
    ]


def test_an_address_that_does_not_answer_is_named_within_the_time_limit():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        closed = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(InputError, match=f"no Ray cluster answers at {closed} .*refused"):
            check_address(closed, 30)
        silent.listen()  # and never answers
        with pytest.raises(InputError, match="nothing after 3 seconds"):
            check_address(closed, 3)
    with pytest.raises(InputError, match="is not the address of a head node"):
        check_address("ray://somewhere", 3)
