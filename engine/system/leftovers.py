"""Mark temporary files with the process that makes them, and recognise those it left behind.

A killed process cannot delete its temporary files. Their names say which process made them, by pid
and start, so that a later process can delete them without touching those of a live one.
"""

import hashlib
import os
import re
import time
from functools import lru_cache
from pathlib import Path

from engine.system.processes import Process, host_name, is_alive, process_of

_MARK = re.compile(r"p(\d+)-([0-9a-f]{6})-([0-9a-f]{8})(?![0-9a-f])", re.ASCII)
_OLD_SECONDS = 24 * 3600  # nothing temporary is used for so long


def process_mark() -> str:
    """Return the part of a temporary file's name that says which process makes it."""
    return _mark(os.getpid())


def is_left_behind(path: Path) -> bool:
    """Return whether a temporary file or folder belongs to a process that is gone.

    Where that cannot be told (another machine, no mark), its age decides.
    """
    if match := _MARK.search(path.name):
        process = process_of(int(match[1]))
        if match[2] == _short(host_name(), 6) and process_of(os.getpid()).began:
            return not (is_alive(process) and match[0] == _mark_of(process))
    try:
        return time.time() - path.stat().st_mtime > _OLD_SECONDS
    except OSError:
        return False


@lru_cache(maxsize=1)
def _mark(pid: int) -> str:
    return _mark_of(process_of(pid))


def _mark_of(process: Process) -> str:
    return f"p{process.pid}-{_short(process.host, 6)}-{_short(process.began, 8)}"


def _short(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]
