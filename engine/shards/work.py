"""Do all shards of one stage: skip the finished ones, collect faults, and tell how far it is."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from engine.shards.records import Record, finished_records
from engine.shards.shards import Shard
from engine.shards.tasks import DoShard, Task
from engine.system import is_disk_full
from engine.text import InputError, one_line


@dataclass(frozen=True, slots=True)
class Fault:
    """A shard that could not be done, and why, in one sentence."""

    shard: str
    reason: str
    is_disk_full: bool = False


@dataclass(frozen=True, slots=True)
class StageProgress:
    """How far a stage is, in shards and in bytes of text."""

    stage: str
    shards: int
    all_shards: int
    size: int
    all_size: int
    seconds_left: float | None  # None before the first shard is done


class Executor(Protocol):
    """Whoever does the work: processes of this machine, or a cluster."""

    def run(self, task: Task, shards: Sequence[Shard]) -> Iterator[tuple[Shard, Record | Fault]]:
        """Yield each shard once, when it is done or has failed for good.

        InputError if nobody is left to do the rest.
        """

    @property
    def notes(self) -> Sequence[str]:
        """What happened to the workers, one sentence each."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The result of one stage."""

    records: Mapping[Shard, Record]
    faults: tuple[Fault, ...]
    skipped: int  # finished before
    is_stopped: bool = False

    def in_order(self, shards: Sequence[Shard]) -> list[Record]:
        """Return the records in the order of the corpus, not in that of the workers."""
        return [self.records[shard] for shard in shards if shard in self.records]

    def figures(self, shards: Sequence[Shard]) -> list[Mapping[str, Any]]:
        """Return the figures of the shards that are done, in the same order."""
        return [record.figures for record in self.in_order(shards)]


@dataclass(slots=True)
class Pace:
    """Tells how long the rest takes, by the bytes done so far."""

    all_size: int
    clock: Callable[[], float] = time.monotonic
    _begun: float = field(init=False)
    _size: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._begun = self.clock()

    def add(self, size: int) -> float | None:
        """Count more bytes as done; return the seconds that the rest will take.

        >>> times = iter([0.0, 10.0])
        >>> Pace(300, lambda: next(times)).add(100)
        20.0
        """
        self._size += size
        if not self._size:
            return None
        return (self.clock() - self._begun) / self._size * (self.all_size - self._size)


def run_stage(
    task: Task,
    shards: Sequence[Shard],
    executor: Executor,
    on_progress: Callable[[StageProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Stage:
    """Do every shard that is not finished yet with these settings."""
    records = finished_records(task.options.store, task.stage, task.key, shards)
    waiting = [shard for shard in shards if shard not in records]
    skipped, faults = len(records), list[Fault]()
    pace = Pace(sum(shard.size for shard in waiting))
    all_size = sum(shard.size for shard in shards)
    size = all_size - pace.all_size

    def tell(seconds_left: float | None) -> None:
        if on_progress:
            done = len(records) + len(faults)
            on_progress(StageProgress(task.stage, done, len(shards), size, all_size, seconds_left))

    tell(None)
    outcomes = executor.run(task, waiting) if waiting else iter(())
    try:
        for shard, outcome in outcomes:
            if isinstance(outcome, Fault):
                faults.append(outcome)
            else:
                records[shard] = outcome
            size += shard.size
            tell(pace.add(shard.size))
            if should_stop and should_stop():
                return Stage(records, tuple(faults), skipped, is_stopped=True)
    except InputError as error:
        done = f"{len(records):,} of {len(shards):,} shards are finished and are kept"
        raise InputError(f"{str(error).rstrip('.')}. {done}; the same command continues") from error
    finally:
        close = getattr(outcomes, "close", None)
        if close:
            close()
    return Stage(records, tuple(sorted(faults, key=lambda fault: fault.shard)), skipped)


def attempt(do: DoShard, shard: Shard) -> Record | Fault:
    """Return the record of a shard, or why it could not be done; other shards go on."""
    try:
        return do(shard)
    except InputError as error:
        return Fault(shard.name, str(error), is_disk_full(error))
    except MemoryError:
        return Fault(shard.name, f"{shard.name} is too large for the memory. Split it")
    except Exception as error:
        said = str(error).splitlines()[0] if str(error) else ""
        reason = f"{shard.name} could not be done ({type(error).__name__}: {said})"
        return Fault(shard.name, one_line(reason), is_disk_full(error))


def lethal(shard: Shard, deaths: int) -> Fault:
    """Return the fault of a shard whose workers died again and again."""
    reason = (
        f"{shard.name}: {deaths} workers died while they did it; it may be too large for the "
        "memory. Split it"
    )
    return Fault(shard.name, reason)
