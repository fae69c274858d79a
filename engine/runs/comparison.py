"""Train several methods on the same data, side by side where there are cores."""

import hashlib
import multiprocessing
import queue
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from multiprocessing.managers import SyncManager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.dictionaries import Dictionary
from engine.experiment import run
from engine.learning import OnProgress, Progress, TrainingData
from engine.network import Stopped, choose_device, keep_context, set_threads
from engine.planning import METHODS
from engine.run_folder import checkpoint_path, delete_checkpoints, run_name
from engine.runs.saved import data_fingerprint, is_finished_run, save_run
from engine.settings import Settings
from engine.system import end_with_parent
from engine.text import InputError


@dataclass(frozen=True, slots=True)
class Task:
    """One method to train, and the folder that will hold its run."""

    folder: Path
    data: TrainingData
    priors: npt.NDArray[np.float64]
    settings: Settings
    dictionaries: tuple[Dictionary, ...]
    watch: "Watch | None" = None  # hears every epoch in the process that trains


Watch = Callable[[Task, Path], OnProgress]  # the task and its checkpoint -> who hears its epochs


def features_folder(folder: Path) -> Path:
    """Return where the runs in `folder` share features that are slow to compute."""
    return folder / "cache"


def compare(
    data: TrainingData,
    priors: npt.NDArray[np.float64],
    settings: Settings,
    methods: Sequence[str],
    folder: Path,
    *,
    dictionaries: Sequence[Dictionary] = (),
    gold_labels: npt.NDArray[np.int16] | None = None,
    watch: Watch | None = None,
    workers: int = 1,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> dict[str, Path]:
    """Train every method with the same data, priors and seed; return their run folders.

    A run that is in `folder` already, from the same data, priors and settings, is kept as it is.
    `gold_labels` are for the methods that need gold, and no other method sees them. `watch` must
    be picklable: it hears the epochs in the process that trains, after each one's checkpoint is
    written.
    """
    data = replace(data, cache=data.cache or features_folder(folder))

    def epochs(method: str) -> int:
        return sum(METHODS[method].epochs(settings, len(data.types)).values())

    tasks = {
        method: Task(
            folder / run_name(method, settings.seed),
            _with_gold(data, gold_labels, method) if METHODS[method].needs_gold else data,
            priors,
            replace(settings, method=method),
            tuple(dictionaries),
            watch,
        )
        # The longest starts first, and the shorter ones fill the other cores.
        for method in sorted(methods, key=epochs, reverse=True)
    }
    train_all(list(tasks.values()), workers, on_progress=on_progress, should_stop=should_stop)
    return {method: tasks[method].folder for method in methods}


def _with_gold(
    data: TrainingData, gold_labels: npt.NDArray[np.int16] | None, method: str
) -> TrainingData:
    if gold_labels is None:
        raise InputError(f"{method} learns from human labels, and there are none. Give gold")
    return replace(data, labels=gold_labels, known_negatives=None)


def train_all(
    tasks: Sequence[Task],
    workers: int,
    *,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> None:
    """Train the tasks that are not finished yet, `workers` at a time, with one thread each.

    One worker trains in this process, with all its threads. A GPU is never shared.
    """
    waiting = [task for task in tasks if not is_trained(task)]
    try:
        waiting = _with_contexts(waiting, should_stop)
    except Stopped:
        return
    if workers < 2 or len(waiting) < 2 or choose_device().type != "cpu":
        for task in waiting:
            if not (should_stop and should_stop()):
                _train(task, on_progress, should_stop)
        return
    context = multiprocessing.get_context("spawn")
    manager = SyncManager(ctx=context)
    manager.start(end_with_parent)
    with manager:
        channel, stop = manager.Queue(), manager.Event()
        with ProcessPoolExecutor(
            min(workers, len(waiting)), context, initializer=_obey_parent
        ) as pool:
            running = [pool.submit(_train_in_worker, task, channel, stop) for task in waiting]
            try:
                _relay(running, channel, stop, on_progress, should_stop)
            finally:
                stop.set()  # if listening failed, the workers must not train on


def train_one(task: Task) -> None:
    """Train one task with one thread, in a process that somebody else has started."""
    set_threads(1)
    if not is_trained(task):
        _train(task, None, None)


def ready_tasks(tasks: Sequence[Task], should_stop: Callable[[], bool] | None = None) -> list[Task]:
    """Return the tasks that are not finished yet, their texts encoded; none when stopped."""
    try:
        return _with_contexts([task for task in tasks if not is_trained(task)], should_stop)
    except Stopped:
        return []


def _with_contexts(tasks: Sequence[Task], should_stop: Callable[[], bool] | None) -> list[Task]:
    """Encode every text once per frozen encoder, and tell the tasks which files hold the result."""
    files: dict[tuple[object, ...], Path | None] = {}
    informed = []
    for task in tasks:
        data, settings = task.data, task.settings
        if data.cache is None:
            informed.append(task)
            continue
        key = (id(data.sentences), settings.encoder_name, settings.contextual_layer, data.cache)
        if key not in files:
            files[key] = keep_context(
                data.sentences, settings, choose_device(), data.cache, should_stop=should_stop
            )
        informed.append(replace(task, data=replace(data, context=files[key])))
    return informed


def is_trained(task: Task) -> bool:
    """Return whether the folder of the task holds its finished run."""
    return is_finished_run(task.folder, task.data, task.priors, task.settings)


def _relay(
    running: list["Future[None]"],
    channel: Any,
    stop: Any,
    on_progress: OnProgress | None,
    should_stop: Callable[[], bool] | None,
) -> None:
    """Pass on what the workers report until all are done; raise the first failure."""
    while any(not future.done() for future in running) or not channel.empty():
        if should_stop and should_stop():
            stop.set()
        try:
            progress: Progress = channel.get(timeout=0.2)
        except queue.Empty:
            continue
        if on_progress:
            on_progress(progress)
    for future in running:
        future.result()


def _obey_parent() -> None:
    """Ignore Ctrl-C, which reaches every process of a terminal; the parent decides about it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


def _train_in_worker(task: Task, channel: Any, stop: Any) -> None:
    set_threads(1)
    _train(task, channel.put, stop.is_set)


def _train(
    task: Task, on_progress: OnProgress | None, should_stop: Callable[[], bool] | None
) -> None:
    task.folder.mkdir(parents=True, exist_ok=True)
    checkpoint = _checkpoint(task)
    watching = task.watch(task, checkpoint) if task.watch else None

    def hear(progress: Progress) -> None:
        for listener in (watching, on_progress):
            if listener:
                listener(progress)

    trained = run(
        task.data,
        task.priors,
        task.settings,
        checkpoint=checkpoint,
        on_progress=hear if watching or on_progress else None,
        should_stop=should_stop,
    )
    if should_stop and should_stop():
        return
    save_run(task.folder, trained, data=task.data, dictionaries=task.dictionaries)
    delete_checkpoints(task.folder)


def _checkpoint(task: Task) -> Path:
    """Name the file after all that decides the weights, so that nothing else is resumed."""
    parts = (data_fingerprint(task.data), task.priors.tolist(), asdict(task.settings))
    key = hashlib.sha256(repr(parts).encode()).hexdigest()[:12]
    return checkpoint_path(task.folder, key)
