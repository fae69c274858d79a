"""Start a job's process apart from ours, and signal it with all that it started.

No signal is sent to a process that `is_alive` does not vouch for; the heartbeat that a job's
process writes has to decide then.
"""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.system import Process, is_alive, process_of

# Processes started here that have not been asked yet how they ended.
_children: list["subprocess.Popen[bytes]"] = []


def start_process(
    command: Sequence[str], log: Path, *, folder: Path, environment: Mapping[str, str]
) -> Process:
    """Start `command` in `folder`, its output added to `log`, and return it at once.

    It gets a session of its own: closing the terminal or stopping the server does not stop it.
    """
    with open(log, "ab") as output:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
        )
    _children.append(child)
    return process_of(child.pid)


def reap() -> None:
    """Let go of the processes started here that have ended."""
    _children[:] = [child for child in _children if child.poll() is None]


def signal_group(process: Process, number: int) -> bool:
    """Send a signal to the process and all it started; return False when it is gone.

    Only a process that `is_alive` is sure of is signaled: its pid might be someone else's by now.
    The process that asks is never signaled, nor is the group that it is in.
    """
    if process.pid == os.getpid() or not is_alive(process):
        return False
    with contextlib.suppress(ProcessLookupError, PermissionError):
        group = os.getpgid(process.pid)
        if group == process.pid and group != os.getpgid(0):
            os.killpg(group, number)
        else:  # a command in someone's terminal, or in our group: it holds more than the job
            os.kill(process.pid, number)
        return True
    return False


def end_group(process: Process, *, by_force: bool) -> bool:
    """Ask the process and all it started to end, or end them; return False when they are gone."""
    return signal_group(process, signal.SIGKILL if by_force else signal.SIGTERM)
