"""Make corpora of many small shards, a run that was never trained, and tasks that misbehave."""

import errno
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.dictionaries.model import Dictionary
from engine.dictionaries.reading import read_dictionaries
from engine.files.sources import SourceFile
from engine.settings import Settings
from engine.shards.shards import Shard, ShardOptions
from engine.shards.tasks import DoShard, Task
from tests.support.waiting import wait_until

TYPES = ("Chemical", "Disease")
WORDS = ("the", "patient", "had", "severe", "after", "taking", "for", "two", "weeks", "and", "was")
CHEMICALS = ("Aspirin", "lithium", "Lead", "valproic acid")
DISEASES = ("Gout", "renal failure", "cold", "failure")
SETTINGS = Settings(method="mpn", word_vectors="none", hidden_size=8, character_size=8)


def make_shards(folder: Path, count: int = 300) -> Path:
    """Write `count` shards of two short documents; some of them define short forms."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        records = [
            {"id": f"{number}-{part}", "text": _text(2 * number + part)} for part in range(2)
        ]
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"part-{number:04d}.jsonl").write_text(lines, encoding="utf-8")
    return folder


def _text(number: int) -> str:
    chemical, disease = CHEMICALS[number % 4], DISEASES[number // 4 % 4]
    chemical = chemical.lower() if number % 3 else chemical
    words = [WORDS[(number * step) % len(WORDS)] for step in range(1, 7)]
    short = " He had renal failure (RF), and RF came back." if number % 5 == 0 else ""
    return f"{' '.join(words)} {chemical} no. {number}. She had {disease} then.{short}"


def make_dictionaries() -> list[Dictionary]:
    files = {"Chemical.txt": CHEMICALS, "Disease.txt": DISEASES}
    return read_dictionaries(
        [SourceFile(name, "\n".join(phrases).encode()) for name, phrases in files.items()]
    )


def write_dictionaries(folder: Path) -> list[str]:
    """Write the dictionaries as files, for the command line."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Chemical.txt").write_text("\n".join(CHEMICALS))
    (folder / "Disease.txt").write_text("\n".join(DISEASES))
    return [str(folder / "Chemical.txt"), str(folder / "Disease.txt")]


def untrained_run(folder: Path) -> Path:
    """Save a run that was never trained: it finds many entities, and the same ones every time."""
    import numpy as np
    import torch

    from engine.experiment import Run
    from engine.learning.assembly import make_inputs, make_tagger
    from engine.learning.training_data import TrainingData
    from engine.network.pretrained import open_pretrained
    from engine.runs.saved import save_run

    data = TrainingData([["a"]], np.zeros(1, np.int16), TYPES)
    inputs = make_inputs(data, SETTINGS, torch.device("cpu"))
    tagger = make_tagger(inputs, 3, SETTINGS, 0, torch.device("cpu"))
    priors, pretrained = np.array([0.8, 0.1, 0.1]), open_pretrained(SETTINGS)
    save_run(folder, Run(SETTINGS, TYPES, priors, (tagger,), None, pretrained, ()), data=data)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Return the results in a folder by name, without the records."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    named = {path.relative_to(folder).as_posix(): path for path in paths}
    return {name: path.read_bytes() for name, path in named.items() if name[0] != "_"}


@dataclass(frozen=True)
class _Changed:
    """A task around another one."""

    inner: Task

    @property
    def stage(self) -> str:
        return self.inner.stage

    @property
    def key(self) -> str:
        return self.inner.key

    @property
    def options(self) -> ShardOptions:
        return self.inner.options


@dataclass(frozen=True)
class DeadlyTask(_Changed):
    """Kills the process that does one of these shards; with `once`, only the first one."""

    shards: Sequence[str]
    once: Path | None = None

    def open(self) -> DoShard:
        do = self.inner.open()

        def die_or_do(shard: Shard):
            if shard.name in self.shards and not (self.once and self.once.exists()):
                if self.once:
                    self.once.touch()
                os._exit(9)
            return do(shard)

        return die_or_do


@dataclass(frozen=True)
class FullNodeTask(_Changed):
    """The disk of one node of the cluster is full."""

    node: str

    def open(self) -> DoShard:
        import ray

        do = self.inner.open()
        is_full = ray.get_runtime_context().get_node_id() == self.node

        def fail_or_do(shard: Shard):
            if is_full:
                raise OSError(errno.ENOSPC, "No space left on device", shard.output)
            return do(shard)

        return fail_or_do


@dataclass(frozen=True)
class TracedTask(_Changed):
    """Notes which process does which shard, and how often."""

    folder: Path

    def open(self) -> DoShard:
        do = self.inner.open()

        def note_and_do(shard: Shard):
            (self.folder / f"{shard.name}.{os.getpid()}").touch()
            return do(shard)

        return note_and_do


@dataclass(frozen=True)
class GatedTask(_Changed):
    """Does nothing until a file is there."""

    gate: Path

    def open(self) -> DoShard:
        do = self.inner.open()

        def wait_and_do(shard: Shard):
            wait_until(self.gate.exists, "the gate")
            return do(shard)

        return wait_and_do
