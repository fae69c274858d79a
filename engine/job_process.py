"""Start the process of a job, recognize it later, and signal it with all that it started.

A pid alone is not enough: systems reuse them. So a process is known by its pid and the moment it
began. Linux tells both in /proc, macOS and the BSDs through `ps`. Where neither answers (Windows),
and for a process of another machine or container, `is_alive` returns None: then no signal is sent,
and the heartbeat that the process writes decides.
"""

import contextlib
import multiprocessing
import os
import platform
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_ENDED = ("Z", "X", "x")  # a zombie answers to its pid until its parent has asked for its end

# Processes started here whose exit status has not been collected yet.
_children: list["subprocess.Popen[bytes]"] = []


@dataclass(frozen=True, slots=True)
class Process:
    """A process, with what distinguishes it from a later one of the same pid."""

    pid: int
    began: str  # as its machine counts; "" when unknown
    host: str


def this_process() -> Process:
    """Return the process that this code runs in."""
    return process_of(os.getpid())


def process_of(pid: int) -> Process:
    """Return the process with this pid, on this machine, now."""
    return Process(pid, _began(pid), host_name())


def host_name() -> str:
    """Return the name of this machine, or of this container."""
    return platform.node()


def is_alive(process: Process) -> bool | None:
    """Return whether exactly this process still runs; None when that cannot be known here."""
    if process.host != host_name() or not process.began:
        return None
    return _began(process.pid) == process.began


def start_process(
    command: Sequence[str], log: Path, *, folder: Path, environment: Mapping[str, str]
) -> Process:
    """Start `command` in `folder` and return its process at once; its output is added to `log`.

    It has a session of its own: closing the terminal or stopping the server does not stop it.
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
    """Collect the exit status of processes started here, so that none stays a zombie."""
    _children[:] = [child for child in _children if child.poll() is None]


def signal_group(process: Process, number: int) -> bool:
    """Send a signal to the process and all it started; False when it does not run any more.

    Only a process that `is_alive` is sure of is signaled: its pid might be someone else's by now.
    This process never signals itself, nor the group that it is in.
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


def end_with_parent() -> None:
    """End this process when the one that started it with multiprocessing has been killed.

    Otherwise it would train on unseen, and write where a resumed run writes too.
    """
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def end_group(process: Process, *, by_force: bool) -> bool:
    """Ask the process and all it started to end, or end them; False when they are gone."""
    return signal_group(process, signal.SIGKILL if by_force else signal.SIGTERM)


def _began(pid: int) -> str:
    """When the process began; "" when there is no such process, or it has ended."""
    if os.path.exists("/proc/self/stat"):
        return _began_by_proc(pid)
    return _began_by_ps(pid) if shutil.which("ps") else ""


def _began_by_proc(pid: int) -> str:
    """Clock ticks between the boot of the machine and the start of the process, and which boot."""
    try:
        line = Path(f"/proc/{pid}/stat").read_bytes()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return ""
    # The second field is the program's name in brackets, which may hold spaces and brackets.
    fields = line[line.rindex(b")") + 2 :].split()
    return "" if fields[0].decode() in _ENDED else f"{fields[19].decode()}@{boot}"


def _began_by_ps(pid: int) -> str:
    done = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    state, _, began = done.stdout.strip().partition(" ")
    return "" if state[:1] in _ENDED else began.strip()
