"""Do shards on a Ray cluster: one actor per core, each with the model in memory.

The task, with its dictionaries or weights, is put into Ray's object store, which copies it once to
every node. Actors take one shard after another. What an actor had when it or its node died goes to
another one. Nodes that join later get actors, too.
"""

import os
import socket
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from types import TracebackType
from typing import Any

from engine.shards.records import Record
from engine.shards.shards import OWN_FOLDER, Shard
from engine.shards.tasks import DoShard, Task
from engine.shards.work import Fault, attempt, lethal
from engine.text import InputError

MOST_DEATHS = 4  # of actors with one shard; a killed node counts as one
_AHEAD = 2  # shards that an actor has, so that it never waits for the next
_LOOK_SECONDS = 2.0  # how often nodes that joined are looked for
_WAIT_SECONDS = 0.5
_LONELY_SECONDS = 20.0  # without any actor, before the job gives up
_MOST_RESTARTS = 20  # of actors of one node
ACTORS_PER_GPU = 4
_INSTALL = 'Run: pip install "glossa[ray,train]"'


class RayExecutor:
    """A Ray cluster; use it in a `with` statement."""

    def __init__(self, address: str | None = None, *, seconds: float = 60.0) -> None:
        """Take the address of the head node, or None for a cluster on this machine.

        `seconds` is how long the address may take to answer.
        """
        self._address, self._seconds = address, seconds
        self._crew: _Crew | None = None
        self.notes: list[str] = []

    def __enter__(self) -> "RayExecutor":
        if find_spec("ray") is None:
            raise InputError('Ray is not installed here. Run: pip install "glossa[ray]"')
        if self._address and self._address not in ("auto", "local"):
            check_address(self._address, self._seconds)
        import ray

        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        try:
            ray.init(
                address=self._address,
                log_to_driver=False,
                logging_level="ERROR",
                include_dashboard=None if self._address else False,
            )
        except Exception as error:
            reason = (str(error) or type(error).__name__).splitlines()[0]
            place = self._address or "this machine"
            raise InputError(f"Ray does not start at {place}: {reason}") from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        import ray

        self._crew = None
        ray.shutdown()  # which ends the actors, too

    def run(self, task: Task, shards: Sequence[Shard]) -> Iterator[tuple[Shard, Record | Fault]]:
        """Yield each shard when it is done; the actors stay for the next stage."""
        self._crew = self._crew or _Crew(self.notes)
        yield from self._crew.do(task, shards)


def check_address(address: str, seconds: float) -> None:
    """Raise InputError unless a Ray cluster answers at an address, such as 10.0.0.1:6379."""
    begun = time.monotonic()
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or "://" in address:
        raise InputError(
            f'"{address}" is not the address of a head node, such as 10.0.0.1:6379; '
            "run the command on a machine of the cluster"
        )
    try:
        socket.create_connection((host, int(port)), timeout=seconds).close()
        # Ray itself would try for minutes, and then end the process.
        subprocess.run(
            [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--address", address],
            timeout=max(1.0, seconds - (time.monotonic() - begun)),
            capture_output=True,
            check=True,
        )
    except (OSError, OverflowError, subprocess.SubprocessError) as error:
        reason = getattr(error, "strerror", None) or "something else listens there"
        if isinstance(error, TimeoutError | subprocess.TimeoutExpired):
            reason = f"nothing after {seconds:.0f} seconds"
        raise InputError(
            f"no Ray cluster answers at {address} ({reason}). Start one with: ray start --head"
        ) from error


@dataclass(frozen=True, slots=True)
class Placement:
    """How many actors a node gets, and what each reserves."""

    actors: int
    gpus: float  # of each actor


def place_actors(resources: Mapping[str, float], *, uses_gpu: bool) -> Placement:
    """Return what a node with these resources gets: one actor per core, or several per GPU.

    >>> place_actors({"CPU": 2.0}, uses_gpu=True)
    Placement(actors=2, gpus=0.0)
    >>> place_actors({"CPU": 16.0, "GPU": 1.0}, uses_gpu=True)
    Placement(actors=4, gpus=0.25)
    """
    cores, gpus = int(resources.get("CPU", 0)), int(resources.get("GPU", 0))
    if uses_gpu and gpus:
        return Placement(min(cores, ACTORS_PER_GPU * gpus), 1 / ACTORS_PER_GPU)
    return Placement(cores, 0.0)


class ShardWorker:
    """An actor: opens the task once, then does shards."""

    def __init__(self) -> None:
        self._do: DoShard | None = None

    def open(self, task: Task) -> str:
        """Make ready; return why that is not possible, or "" if it is."""
        try:
            self._do = task.open()
        except InputError as error:
            return str(error)
        except ModuleNotFoundError as error:
            return f"{error.name} is not installed there. {_INSTALL}"
        return ""

    def do(self, shard: Shard) -> Record | Fault:
        """Do one shard."""
        assert self._do is not None
        return attempt(self._do, shard)


@dataclass(slots=True, eq=False)
class _Actor:
    handle: Any
    node: str
    is_open: bool = False
    shards: deque[Shard] = field(default_factory=deque)  # handed out, the first at work


class _Crew:
    """The actors of a job, and who does what."""

    def __init__(self, notes: list[str]) -> None:
        import ray

        self._ray, self._notes = ray, notes
        self._waiting: deque[Shard] = deque()
        self._deaths: Counter[Shard] = Counter()
        self._restarts: Counter[str] = Counter()
        self._names: dict[str, str] = {}  # of nodes that were seen, by id
        self._placements: dict[str, Placement] = {}
        self._actors: set[_Actor] = set()
        self._answers: dict[Any, tuple[_Actor | str, Shard | None]] = {}
        self._looked = self._had_actors = time.monotonic()
        self._refusals: list[str] = []

    def do(self, task: Task, shards: Sequence[Shard]) -> Iterator[tuple[Shard, Record | Fault]]:
        """Yield each shard when it is done."""
        self._task, self._shared = task, self._ray.put(task)
        for actor in self._actors:
            self._open(actor)
        self._waiting.extend(shards)
        left = len(shards)
        self._look_for_nodes()
        while left:
            self._hand_out()
            for outcome in self._collect():
                left -= 1
                yield outcome
            if time.monotonic() - self._looked > _LOOK_SECONDS:
                self._look_for_nodes()
            self._give_up_if_alone()

    # ---- nodes ------------------------------------------------------------------------------

    def _look_for_nodes(self) -> None:
        """Ask every new node whether it can work."""
        self._looked = time.monotonic()
        for node in self._ray.nodes():
            id = node["NodeID"]
            if node["Alive"] and id not in self._names:
                self._names[id] = f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']})"
                uses_gpu = self._task.stage == "predict"
                self._placements[id] = place_actors(node["Resources"], uses_gpu=uses_gpu)
                if self._placements[id].actors:
                    self._answers[self._ask(id)] = (id, None)

    def _ask(self, node: str) -> Any:
        """Ask a node what it lacks; the function itself is sent, as nothing may be there yet."""
        modules = ["engine.shards"] + ["torch"] * (self._task.stage == "predict")
        advice, out = _INSTALL, self._task.options.store
        job_file = out.path_of(f"{OWN_FOLDER}/job.json") if out.is_local else ""

        def missing() -> str:
            import importlib
            import os

            for name in modules:
                try:
                    importlib.import_module(name)
                except ImportError as error:
                    return f"{error.name or name} is not installed there. {advice}"
            if job_file and not os.path.exists(job_file):
                folder = os.path.dirname(os.path.dirname(job_file))
                return f"it does not see {folder}. Use a folder that all nodes share, or a URL"
            return ""

        asked = self._ray.remote(num_cpus=0, max_retries=1)(missing)
        return asked.options(scheduling_strategy=self._strategy(node)).remote()

    def _strategy(self, node: str) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return NodeAffinitySchedulingStrategy(node, soft=False)

    def _leave_out(self, node: str, reason: str) -> None:
        """Work without a node from now on."""
        sentence = f"node {self._names[node]} is left out: {reason}"
        if sentence not in self._refusals:
            self._refusals.append(sentence)
        self._note(sentence)
        self._placements[node] = Placement(0, 0.0)
        for actor in [actor for actor in self._actors if actor.node == node]:
            self._ray.kill(actor.handle)
            self._drop(actor)

    def _note(self, sentence: str) -> None:
        if sentence not in self._notes:
            self._notes.append(sentence)

    def _give_up_if_alone(self) -> None:
        now = time.monotonic()
        if self._actors or self._answers:
            self._had_actors = now
        elif now - self._had_actors > _LONELY_SECONDS or self._refusals:
            reasons = "; ".join(self._refusals[:3]) or "all nodes are gone"
            raise InputError(f"no node of the cluster can work: {reasons}")

    # ---- actors -----------------------------------------------------------------------------

    def _start(self, node: str) -> None:
        placement = self._placements[node]
        worker = self._ray.remote(num_cpus=1, num_gpus=placement.gpus, max_restarts=0)(ShardWorker)
        actor = _Actor(worker.options(scheduling_strategy=self._strategy(node)).remote(), node)
        self._actors.add(actor)
        self._open(actor)

    def _open(self, actor: _Actor) -> None:
        actor.is_open = False
        self._answers[actor.handle.open.remote(self._shared)] = (actor, None)

    def _hand_out(self) -> None:
        for ahead in range(1, _AHEAD + 1):  # one for everybody before anybody gets a second
            for actor in self._actors:
                if self._waiting and actor.is_open and len(actor.shards) < ahead:
                    shard = self._waiting.popleft()
                    actor.shards.append(shard)
                    self._answers[actor.handle.do.remote(shard)] = (actor, shard)

    def _collect(self) -> Iterator[tuple[Shard, Record | Fault]]:
        if not self._answers:
            time.sleep(_WAIT_SECONDS)
            return
        ready, _ = self._ray.wait(list(self._answers), timeout=_WAIT_SECONDS)
        for answer in ready:
            if answer not in self._answers:  # its node was left out meanwhile
                continue
            who, shard = self._answers.pop(answer)
            if isinstance(who, str):
                self._welcome(who, answer)
            elif shard is None:
                self._opened(who, answer)
            else:
                yield from self._finished(who, shard, answer)

    def _welcome(self, node: str, answer: Any) -> None:
        try:
            reason = self._ray.get(answer)
        except self._ray.exceptions.RayError:
            self._names.pop(node)  # it is gone, or is asked again
            return
        if reason:
            self._leave_out(node, reason)
        for _ in range(self._placements[node].actors):
            self._start(node)

    def _opened(self, actor: _Actor, answer: Any) -> None:
        try:
            reason = self._ray.get(answer)
        except self._ray.exceptions.RayActorError:
            list(self._replace(actor))  # it had no shard yet
            return
        if reason:
            self._leave_out(actor.node, reason)
        actor.is_open = not reason

    def _finished(
        self, actor: _Actor, shard: Shard, answer: Any
    ) -> Iterator[tuple[Shard, Record | Fault]]:
        try:
            outcome = self._ray.get(answer)
        except self._ray.exceptions.RayActorError:
            yield from self._replace(actor)
            return
        actor.shards.remove(shard)
        if isinstance(outcome, Fault) and outcome.is_disk_full:
            self._waiting.appendleft(shard)
            self._leave_out(actor.node, outcome.reason)
        else:
            yield shard, outcome

    def _replace(self, actor: _Actor) -> Iterator[tuple[Shard, Fault]]:
        """Give the shards of a dead actor to others; start another one where it was."""
        if actor not in self._actors:
            return
        at_work = actor.shards[0] if actor.shards else None
        self._drop(actor)
        if at_work is not None:
            self._deaths[at_work] += 1
            if self._deaths[at_work] >= MOST_DEATHS:
                self._waiting.remove(at_work)
                yield at_work, lethal(at_work, MOST_DEATHS)
        alive = {node["NodeID"] for node in self._ray.nodes() if node["Alive"]}
        self._restarts[actor.node] += 1
        if actor.node not in alive:
            self._note(f"node {self._names[actor.node]} is gone; others do its shards")
        elif self._placements[actor.node].actors:
            if self._restarts[actor.node] > _MOST_RESTARTS:
                self._leave_out(actor.node, f"its workers died {_MOST_RESTARTS} times")
            else:
                self._start(actor.node)

    def _drop(self, actor: _Actor) -> None:
        self._actors.discard(actor)
        self._waiting.extendleft(reversed(actor.shards))
        actor.shards.clear()
        for answer in [a for a, (who, _) in self._answers.items() if who is actor]:
            del self._answers[answer]
