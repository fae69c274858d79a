"""Measure how fast shards are labeled and predicted with one and two workers, and what that means.

A corpus of `--tokens` tokens is made from the sample's text, in `--shards` shards. Each kind of
work is done by one and by two workers of a Ray cluster on this machine (or by processes, with
`--engine local`). From the tokens per second and the core seconds per million tokens follows what
a thousand million tokens take on 1, 8 and 64 machines of two cores. That is not measured: shards do
not depend on each other, so machines are taken to add up, as long as the storage keeps pace.

    python -m bench.scale [--run runs/conf_mpu-seed0] [--twin runs/twin] [--tokens 400000]
"""

import argparse
import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from bench import environment
from engine.dictionaries import read_dictionaries
from engine.files import read_source
from engine.formats import read_corpus
from engine.shards import (
    Executor,
    LocalExecutor,
    RayExecutor,
    ShardOptions,
    StageProgress,
    label_shards,
    predict_shards,
)

SAMPLE = environment.ROOT / "sample_data"
CORPUS_TOKENS = 1_000_000_000
MACHINES = (1, 8, 64)
CORES = 2  # of one machine


def main() -> None:
    """Measure, print the tables, and end with one line of JSON."""
    options = _parser().parse_args()
    with tempfile.TemporaryDirectory() as folder:
        texts, tokens = make_corpus(Path(folder, "texts"), options.tokens, options.shards)
        rows = []
        for kind, run in _kinds(options):
            for workers in options.workers:
                out = Path(folder, f"{kind}{workers}")
                row = measure(kind, run, workers, options.engine, texts, out)
                row["tokens_per_second"] = round(tokens / row["work_seconds"])
                row["core_seconds_per_million"] = round(
                    row["workers"] * row["work_seconds"] / tokens * 1e6, 1
                )
                rows.append(row)
                print(row, flush=True)  # a stopped run has told what it measured
    print(f"\nMeasured: {tokens:,} tokens in {options.shards} shards, engine {options.engine}\n")
    _print(rows)
    plan = extrapolate(rows)
    print("\nExtrapolated: 1,000 million tokens, machines of two cores\n")
    _print(plan)
    environment.finish({"measured": rows, "extrapolated": plan, "tokens": tokens})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=400_000)
    parser.add_argument("--shards", type=int, default=40)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--engine", choices=("local", "ray"), default="ray")
    parser.add_argument("--run", help="folder of a run to predict with; without it, only label")
    parser.add_argument("--twin", help="folder of the run's fast twin, to predict with it, too")
    return parser


def _kinds(options: argparse.Namespace) -> Iterator[tuple[str, Path | None]]:
    yield "label", None
    for kind, run in (("predict", options.run), ("twin", options.twin)):
        if run:
            yield kind, Path(run)


def make_corpus(folder: Path, tokens: int, shards: int) -> tuple[Path, int]:
    """Write the sample's documents again and again, and return how many tokens that makes."""
    documents = read_corpus([read_source(SAMPLE / "train.jsonl")]).documents
    folder.mkdir()
    lines: list[list[str]] = [[] for _ in range(shards)]
    count = number = 0
    while count < tokens:
        document = documents[number % len(documents)]
        record = {"id": str(number), "text": document.text}
        lines[number % shards].append(json.dumps(record) + "\n")
        count += document.token_count
        number += 1
    for i, of_shard in enumerate(lines):
        (folder / f"{i:04d}.jsonl").write_text("".join(of_shard), encoding="utf-8")
    return folder, count


def measure(
    kind: str, run: Path | None, workers: int, engine: str, texts: Path, out: Path
) -> dict[str, Any]:
    """Do all shards once: the seconds that workers start, those of the work, and memory."""
    moments: dict[str, list[float]] = {}  # by stage

    def hear(progress: StageProgress) -> None:
        moments.setdefault(progress.stage, []).append(time.perf_counter())

    options = ShardOptions(str(out))
    begun = time.perf_counter()
    with _executor(engine, workers) as executor, peak_memory() as peak:
        if run is None:
            dictionaries = read_dictionaries(
                [read_source(path) for path in sorted((SAMPLE / "dictionary").glob("*.txt"))]
            )
            done = label_shards([str(texts)], dictionaries, options, executor, on_progress=hear)
        else:
            done = predict_shards([str(texts)], run, options, executor, on_progress=hear)
        ended = time.perf_counter()
    assert not done.faults, done.faults
    work = sum(_work_seconds(of_stage, workers) for of_stage in moments.values())
    return {
        "kind": kind,
        "workers": workers,
        "start_seconds": round(ended - begun - work, 1),
        "work_seconds": work,
        "peak_mb": round(peak[0] / 1e6),
    }


def _work_seconds(moments: Sequence[float], workers: int) -> float:
    """Return the seconds of a stage, without the start of its workers.

    The first moment is before any shard, and the first shard of every worker includes its start.
    """
    shards = len(moments) - 1
    first = min(workers, shards - 1)
    return (moments[-1] - moments[first]) * shards / (shards - first)


@contextmanager
def _executor(engine: str, workers: int) -> Iterator[Executor]:
    if engine == "local":
        with nullcontext(LocalExecutor(workers)) as executor:
            yield executor
        return
    from ray.cluster_utils import Cluster

    node = {"num_cpus": workers, "object_store_memory": 200_000_000, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    try:
        with RayExecutor(cluster.address) as executor:
            yield executor
    finally:
        cluster.shutdown()


@contextmanager
def peak_memory() -> Iterator[list[int]]:
    """Yield a list whose number is the most memory that this process and its children had."""
    peak, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(0.5):
            peak[0] = max(peak[0], _memory_of_tree())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        over.set()
        watcher.join()


def _memory_of_tree() -> int:
    """Return the bytes of this process and all below it; shared pages count once."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            line = path.read_text(encoding="utf-8", errors="replace")
        except OSError:  # it has ended
            continue
        parents[int(path.parent.name)] = int(line[line.rindex(")") + 2 :].split()[1])
    tree = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in tree} - tree:
        tree |= more
    return sum(map(_proportional, tree))


def _proportional(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def extrapolate(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the hours for the large corpus, by kind and number of machines."""
    fastest = {row["kind"]: row for row in rows if row["workers"] == CORES}
    return [
        {
            "kind": kind,
            "machines": machines,
            "hours": round(
                (CORPUS_TOKENS / row["tokens_per_second"] / machines + row["start_seconds"]) / 3600,
                2,
            ),
            "core hours": round(CORPUS_TOKENS / row["tokens_per_second"] * CORES / 3600, 1),
        }
        for kind, row in fastest.items()
        for machines in MACHINES
    ]


def _print(rows: Sequence[dict[str, Any]]) -> None:
    if not rows:
        return
    print("| " + " | ".join(rows[0]) + " |")
    print("|" + "---|" * len(rows[0]))
    for row in rows:
        cells = (f"{v:,.1f}" if isinstance(v, float) else str(v) for v in row.values())
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
