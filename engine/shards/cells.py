"""Train the cells of a coverage curve (shares, methods, seeds) on a Ray cluster, one per core."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from engine.text import InputError

if TYPE_CHECKING:
    from engine.runs import Task

_WAIT_SECONDS = 1.0
_RETRIES = 3  # of a cell whose worker or node died; it continues after its last finished epoch


def train_on_cluster(
    tasks: Sequence["Task"],
    on_trained: Callable[[str], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> None:
    """Train tasks on the cluster that a RayExecutor has joined; all nodes share their folders.

    `on_trained` gets the folder of each finished run. A cell that cannot be trained is left;
    training what is left on one machine says why.
    """
    import ray

    shared: dict[int, Any] = {}  # the data of a share are put into the object store once
    for task in tasks:
        if id(task.data) not in shared:
            shared[id(task.data)] = ray.put(task.data)
    train = ray.remote(num_cpus=1, max_retries=_RETRIES)(_train_cell)
    waiting = {train.remote(*_parts(task), shared[id(task.data)]): task for task in tasks}
    while waiting and not (should_stop and should_stop()):
        done, _ = ray.wait(list(waiting), timeout=_WAIT_SECONDS)
        for answer in done:
            task = waiting.pop(answer)
            try:
                is_trained = ray.get(answer)
            except ray.exceptions.RayError:
                continue
            if is_trained and on_trained:
                on_trained(str(task.folder))
    for answer in waiting:
        ray.cancel(answer, force=True)


def _parts(task: "Task") -> tuple[Any, ...]:
    return task.folder, task.priors, task.settings, task.dictionaries


def _train_cell(folder: Any, priors: Any, settings: Any, dictionaries: Any, data: Any) -> bool:
    from engine.runs import Task, train_one

    try:
        train_one(Task(folder, data, priors, settings, dictionaries))
    except InputError:
        return False
    return True
