"""Turn the epochs reported so far into the share that is done and the seconds that are left."""

from collections.abc import Hashable, Mapping
from statistics import fmean
from typing import Any

from engine.jobs import makespan
from engine.planning import CONFIDENCE, TRAINING


class Pace:
    """How far several tasks are, `workers` of them at a time.

    The caller chooses what a task is: a method, or a cell of a curve.
    """

    def __init__(self, epochs: Mapping[Any, Mapping[str, int]], workers: int) -> None:
        self._epochs, self._workers = epochs, workers
        self._done = {task: dict.fromkeys(stages, 0) for task, stages in epochs.items()}
        self._seconds: dict[Hashable, list[float]] = {task: [] for task in epochs}

    def hear(self, task: Hashable, stage: str, number: int, seconds: float) -> None:
        """Note that a task has finished epoch `number` of a stage, and those before it."""
        done = self._done[task]
        if stage == TRAINING and CONFIDENCE in done:
            # A resumed task does not report the stage that it had finished.
            done[CONFIDENCE] = self._epochs[task][CONFIDENCE]
        done[stage] = max(done[stage], number)
        self._seconds[task].append(seconds)

    def finish(self, task: Hashable) -> None:
        """Note that a task is done, now or in an earlier process."""
        self._done[task] = dict(self._epochs[task])

    @property
    def share(self) -> float:
        total = sum(sum(stages.values()) for stages in self._epochs.values())
        return sum(sum(stages.values()) for stages in self._done.values()) / max(total, 1)

    @property
    def seconds_left(self) -> float | None:
        """By the mean epoch of each task, or of all; None before the first epoch."""
        heard = [second for seconds in self._seconds.values() for second in seconds]
        if not heard:
            return None
        left = [
            self._left(task) * fmean(self._seconds[task] or heard)
            for task in self._epochs
            if self._left(task)
        ]
        return makespan(left, self._workers)

    def _left(self, task: Hashable) -> int:
        return sum(self._epochs[task].values()) - sum(self._done[task].values())
