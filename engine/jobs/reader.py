"""Read uploaded files in a process of its own, with limits on its time and memory.

reading = start_reading(project.folder, "save_text", files, options)    # returns at once
reading.share, reading.step                                             # how far it is
reading.cancel()
reading.outcome()                       # what it found; InputError says what went wrong

The process shows text, gold and dictionaries before they are saved, saves them straight into the
project, reads text for a prediction, or makes a project of a zip. Only short records come back;
documents stay in files.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.files import SourceFile, write_error
from engine.projects import CACHE, data_folder, new_place
from engine.settings import ReadOptions
from engine.system import release_memory
from engine.text import InputError

TASK = "task.json"
_ROOT = Path(__file__).resolve().parents[2]  # the folder that holds `engine`
_LONGEST_NAME = 60  # characters of a file's name in a message
_LOOK_SECONDS = 0.2
_KILL_SECONDS = 3.0  # after a request to stop that was not followed
_REMEDY = "Split it into smaller files, or use the command line"
_IMPORT_REMEDY = "Import it at the command line: glossa import --zip FILE"


@dataclass(frozen=True, slots=True)
class ReaderLimits:
    """What reading one upload may cost."""

    cpu_seconds: int = 900
    wall_seconds: int = 3_600
    memory_mb: int = 6_000


READER_LIMITS = ReaderLimits()


class Reading:
    """Files being read by another process; watched by a thread, asked by any."""

    def __init__(
        self, folder: Path, names: Sequence[str], *, limits: ReaderLimits, remedy: str
    ) -> None:
        self.share, self.step = 0.0, "Starting"
        self.is_cancelled = False
        self._folder, self._limits, self._remedy = folder, limits, remedy
        first = names[0] if len(names[0]) <= _LONGEST_NAME else f"{names[0][:_LONGEST_NAME]}…"
        self._what = first if len(names) == 1 else f"{first} and {len(names) - 1:,} more"
        self._result: Any = None
        self._error: InputError | None = None
        self._ended = threading.Event()
        try:
            self._child = subprocess.Popen(
                [sys.executable, "-m", "engine.jobs.reader_process", str(folder)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                cwd=_ROOT,
                env=_environment(),
                start_new_session=True,
            )
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise InputError(
                f"the process that reads files could not be started: {error.strerror or error}. "
                "Try again"
            ) from error
        self._began, self._why = time.monotonic(), ""
        for target in (self._watch, self._guard):
            threading.Thread(target=target, name="reader", daemon=True).start()

    @property
    def is_over(self) -> bool:
        return self._ended.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is over, at most so long; return whether it is."""
        return self._ended.wait(seconds)

    def outcome(self) -> Any:
        """Return what the process found, once it is over; InputError if it was stopped or failed.

        A cancelled one may have been too far to be stopped; then this is what it found.
        """
        if self._error is not None:
            raise self._error
        return self._result

    def cancel(self) -> None:
        """Ask the process to stop, and make it stop if it does not."""
        if not self.is_over:
            self.is_cancelled = True
            self._stop("cancelled")

    def _stop(self, why: str) -> None:
        if self._why:
            return
        self._why = why
        with suppress(ProcessLookupError):
            self._child.terminate()
        killer = threading.Timer(_KILL_SECONDS, self._kill)
        killer.daemon = True
        killer.start()

    def _kill(self) -> None:
        if not self.is_over:
            with suppress(ProcessLookupError):
                self._child.kill()

    def _guard(self) -> None:
        """Stop the process when it takes too much memory or time.

        A limit that the system enforces would not do: libraries in other languages may hang when
        they get no memory.
        """
        while not self._ended.wait(_LOOK_SECONDS):
            if _resident_mb(self._child.pid) > self._limits.memory_mb:
                self._stop("memory")
            if time.monotonic() - self._began > self._limits.wall_seconds:
                self._stop("time")

    def _watch(self) -> None:
        assert self._child.stdout is not None
        answer: dict[str, Any] | None = None
        with self._child.stdout as lines:
            for line in lines:
                with suppress(ValueError):  # a killed process may leave half a line
                    record = json.loads(line)
                    self.share = record.get("share", self.share)
                    self.step = record.get("step", self.step)
                    answer = record if record.keys() & {"result", "error", "limit"} else answer
        code = self._child.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
        if answer is not None and "result" in answer:
            self._result, self.is_cancelled = answer["result"], False
        elif answer is not None and "error" in answer:
            self._error = InputError(answer["error"], *answer["fixes"])
        else:
            self._error = InputError(self._end_of((answer or {}).get("limit", ""), code))
        self._ended.set()
        release_memory()

    def _end_of(self, limit: str, code: int) -> str:
        is_long = time.monotonic() - self._began > self._limits.cpu_seconds
        limit = self._why or limit or ("time" if code == -signal.SIGKILL and is_long else "")
        if limit == "cancelled":
            return f"reading {self._what} was cancelled; nothing was changed"
        if limit == "memory":
            return (
                f"reading {self._what} was stopped: it needs more than "
                f"{self._limits.memory_mb:,} MB of memory. {self._remedy}"
            )
        if limit == "time":
            return (
                f"reading {self._what} was stopped: it takes more than "
                f"{self._limits.cpu_seconds:,} seconds. {self._remedy}"
            )
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return (
            f"the process that read {self._what} ended too early ({how}). Try again; what was "
            "added already is not added twice"
        )


def start_reading(
    folder: Path,
    task: str,
    files: Sequence[SourceFile],
    options: ReadOptions,
    limits: ReaderLimits = READER_LIMITS,
    **more: Any,
) -> Reading:
    """Start a process that does this task with the files, for the project in this folder.

    `task` is one of those in `reader_process`; `more` are its further arguments, JSON values.
    """
    if not files:
        raise InputError("no files were given")
    place = folder / CACHE / f"reading-{uuid.uuid4().hex[:12]}"
    record = _record(task, folder, options=options, limits=limits, more=more)
    return _started(place, files, record, limits=limits)


def start_import(
    file: SourceFile, owner: str | None = None, limits: ReaderLimits = READER_LIMITS
) -> Reading:
    """Start a process that makes a project of a zip; its outcome holds the project's id."""
    record = _record(
        "import_project",
        data_folder(),
        options=ReadOptions(),
        limits=limits,
        more={"owner": owner},
    )
    return _started(new_place(), [file], record, limits=limits, remedy=_IMPORT_REMEDY)


def _record(
    task: str,
    folder: Path,
    *,
    options: ReadOptions,
    limits: ReaderLimits,
    more: Mapping[str, Any],
) -> dict[str, Any]:
    return {
        "task": task,
        "folder": str(folder.absolute()),
        "options": asdict(options),
        "limits": asdict(limits),
        "more": more,
    }


def _started(
    place: Path,
    files: Sequence[SourceFile],
    record: Mapping[str, Any],
    *,
    limits: ReaderLimits,
    remedy: str = _REMEDY,
) -> Reading:
    """Write the files and the task into this place, and start the process that deletes it."""
    names = [file.name for file in files]
    try:
        place.mkdir(parents=True)
        # Numbered, because a name from an upload must never become a path.
        for number, file in enumerate(files):
            (place / str(number)).write_bytes(file.data)
        task = json.dumps({**record, "names": names})
        (place / TASK).write_text(task, encoding="utf-8")
    except OSError as error:
        shutil.rmtree(place, ignore_errors=True)
        raise write_error(place, error) from error
    return Reading(place, names, limits=limits, remedy=remedy)


def _resident_mb(pid: int) -> float:
    """Return the memory of a process; 0 if it ended, or where the system does not say."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_bytes().split()[1])
    except (OSError, IndexError, ValueError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH", ""))))
    # Threads of numerical libraries would only take up address space.
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    data = str(data_folder())  # the process has another working folder
    more = {"PYTHONPATH": path, "PYTHONIOENCODING": "utf-8", "GLOSSA_DATA": data}
    return {**os.environ, **threads, **more}
