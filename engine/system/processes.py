"""Tell processes apart, ask whether one still runs, and end a process with its parent.

A pid alone does not identify a process for long: the system gives it to another one later. So a
process is known by its pid and the moment it began. Linux tells both in /proc; macOS and the BSDs
through `ps`. Where neither answers (Windows), and for a process of another machine or container,
`is_alive` returns None.
"""

import multiprocessing
import os
import platform
import shutil
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

_ENDED = ("Z", "X", "x")  # a zombie keeps its pid until its parent has asked how it ended


@dataclass(frozen=True, slots=True)
class Process:
    """A process and what tells it from a later one with the same pid."""

    pid: int
    began: str  # as its machine counts; "" when the machine does not say
    host: str


def this_process() -> Process:
    """Return the process that asks."""
    return process_of(os.getpid())


def process_of(pid: int) -> Process:
    """Return the process that has this pid on this machine now."""
    return Process(pid, _began(pid), host_name())


def host_name() -> str:
    """Return the name of this machine, or of this container."""
    return platform.node()


def is_alive(process: Process) -> bool | None:
    """Return whether this very process still runs; None when that cannot be told from here."""
    if process.host != host_name() or not process.began:
        return None
    return _began(process.pid) == process.began


def end_with_parent() -> None:
    """End this process when the one that started it with multiprocessing has been killed.

    Otherwise it would go on training unseen, and write where a resumed run writes too.
    """
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _began(pid: int) -> str:
    """When the process began; "" when there is none or it has ended."""
    if os.path.exists("/proc/self/stat"):
        return _began_by_proc(pid)
    return _began_by_ps(pid) if shutil.which("ps") else ""


def _began_by_proc(pid: int) -> str:
    """Clock ticks since the machine started, and the id of that start."""
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
