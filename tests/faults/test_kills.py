"""Processes killed at random moments: what was stored is there, and nothing is half there.

Fifty kills here, any number with `make faults KILLS=500`. A kill has a number, which seeds the
moment of it. How long a step takes on this machine is measured first, so that kills hit every part
of it, however fast the machine is.
"""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from engine.projects.workspace import delete_project, list_projects, sweep_leftovers
from tests.support.fault_operations import OPERATIONS, check_whole, make_project

KILLS = int(os.environ.get("GLOSSA_KILLS", "50"))
SHARES = {"save": 10, "mute": 10, "decide": 8, "import": 8, "export": 8, "train": 6}


class Victims:
    """Processes that do steps of an operation, one at a time."""

    def __init__(self, name, project, environment):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.fault_victim", name, project.id],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert self._line() == "ready"

    def _line(self):
        line = self._process.stdout.readline().strip()
        assert line, "the process that starts victims is gone"
        assert not line.startswith("failed"), line
        return line

    def _start(self, steps):
        self._process.stdin.write(f"{steps}\n")
        self._process.stdin.flush()
        word, pid = self._line().split()
        assert word == "victim"
        return int(pid)

    def seconds_per_step(self):
        self._start(1)
        began = time.monotonic()
        assert self._line().startswith("stored")
        seconds = time.monotonic() - began
        assert self._line() == "gone"
        return seconds

    def kill(self, delay):
        """Let a victim work and kill it after a while; return how many steps it said it stored."""
        pid, stored = self._start(0), None
        time.sleep(delay)
        os.kill(pid, signal.SIGKILL)
        while (line := self._line()) != "gone":
            stored = int(line.split()[1])
        return stored

    def close(self):
        self._process.kill()
        self._process.communicate()


@pytest.mark.parametrize("name", SHARES)
def test_a_kill_loses_nothing_and_leaves_nothing_half_done(name, tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))
    if name == "train":
        from tests.support.small_project import make_small_project

        project = make_small_project(has_gold=False)
    else:
        project = make_project()
    operation = OPERATIONS[name](project)
    victims = Victims(name, project, os.environ | {"OMP_NUM_THREADS": "1"})
    try:
        seconds = victims.seconds_per_step()
        before = operation.count()
        assert before == 1
        for number in range(max(1, KILLS * SHARES[name] // 50)):
            delay = random.Random(number).uniform(0, 2 * seconds)
            stored = victims.kill(delay)
            where = f"kill {number} of {name} after {delay:.3f} s"
            after = operation.count()
            least = before if stored is None else stored
            # A step that was stored right before the kill could not be announced any more.
            assert least <= after <= least + 1, where
            if name != "train":
                check_whole(project)
            before = after
            sweep_leftovers()
            assert leftovers(tmp_path / "data") == [], where
            if name == "import":
                for summary in list_projects():
                    if summary.id != project.id:
                        delete_project(summary.id)
                before = 0
        if name == "train":  # what was interrupted can be resumed, and ends at the same weights
            while operation.count() < before + 2:
                operation.step()
            weights = {path.read_bytes() for path in project.folder.rglob("tagger-0.safetensors")}
            assert len(weights) == 1
    finally:
        victims.close()


def leftovers(folder):
    return [path for path in folder.rglob(".*") if not path.name.endswith(".lock")]
