"""Do shards in processes of this machine; a process that dies is replaced."""

import multiprocessing
import signal
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from engine.shards.records import Record
from engine.shards.shards import Shard
from engine.shards.tasks import DoShard, Task
from engine.shards.work import Fault, attempt, lethal
from engine.system import end_with_parent
from engine.text import InputError

MOST_DEATHS = 3  # of workers, alone with one shard
_AHEAD = 2  # shards per worker that are handed out, so that none waits for the next


class LocalExecutor:
    """Processes of this machine, or this process if there is one worker."""

    def __init__(self, workers: int = 1) -> None:
        self._workers = workers
        self.notes: list[str] = []

    def run(self, task: Task, shards: Sequence[Shard]) -> Iterator[tuple[Shard, Record | Fault]]:
        """Yield each shard when it is done; a full disk ends the work."""
        count = min(self._workers, len(shards))
        is_here = self._workers == 1
        outcomes = _here(task, shards) if is_here else _in_processes(task, shards, count)
        for shard, outcome in outcomes:
            if isinstance(outcome, Fault) and outcome.is_disk_full:
                raise InputError(outcome.reason)
            yield shard, outcome


def _here(task: Task, shards: Sequence[Shard]) -> Iterator[tuple[Shard, Record | Fault]]:
    do = task.open()
    for shard in shards:
        yield shard, attempt(do, shard)


def _in_processes(
    task: Task, shards: Sequence[Shard], workers: int
) -> Iterator[tuple[Shard, Record | Fault]]:
    waiting, deaths = deque(shards), Counter[Shard]()
    suspects: set[Shard] = set()  # were at work when a worker died; each is tried alone
    while waiting:
        pool = ProcessPoolExecutor(
            workers, multiprocessing.get_context("spawn"), _open_in_worker, (task,)
        )
        running: dict[Future[Record | Fault], Shard] = {}
        try:
            while waiting or running:
                most = 1 if suspects else _AHEAD * workers
                while waiting and len(running) < most:
                    shard = waiting.popleft()
                    running[pool.submit(_do_in_worker, shard)] = shard
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    outcome = future.result()
                    shard = running.pop(future)
                    suspects.discard(shard)
                    yield shard, outcome
        except BrokenProcessPool:
            left = list(running.values())
            waiting.extendleft(reversed(left))
            if len(left) == 1:
                deaths[left[0]] += 1
                if deaths[left[0]] == MOST_DEATHS:
                    waiting.popleft()
                    suspects.discard(left[0])
                    yield left[0], lethal(left[0], MOST_DEATHS)
            suspects.update(shard for shard in left if shard in waiting)
        finally:
            pool.shutdown(cancel_futures=True)


_do: DoShard | None = None  # what a worker does with a shard


def _open_in_worker(task: Task) -> None:
    global _do
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which decides
    end_with_parent()
    _do = task.open()


def _do_in_worker(shard: Shard) -> Record | Fault:
    assert _do is not None
    return attempt(_do, shard)
