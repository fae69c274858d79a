"""`work`: the process of a job. It waits for its turn, does the job, and stores how it ended.

Every file it writes is whole at any time, so the process may be killed at any moment: a resumed job
goes on after the last finished epoch.
"""

import argparse
import os
import sqlite3
import threading
import time
import traceback
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import TYPE_CHECKING

from engine.jobs import (
    CANCELLED,
    LOG,
    Heart,
    Report,
    Superseded,
    end_line,
    open_report,
    settle,
)
from engine.projects import Project, open_project, sweep_leftovers
from engine.system import is_disk_full, note_all, print_aside
from engine.text import InputError, use_language

if TYPE_CHECKING:
    from engine.learning import OnProgress

_GRACE_SECONDS = 1.3  # between a request to stop and an end by force
_TURN_SECONDS = 0.3  # how often a waiting job checks whether it is its turn
_RETRY_SECONDS = 1.0  # between two attempts to store how a job ended
_PATIENCE = 10  # attempts before a program that has more to do than this job gives up
_OUT_OF_MEMORY = (
    "Training ran out of memory: a process was killed. Retry with a smaller batch_size, or with "
    "fewer methods at a time; finished epochs are kept."
)
_DISK_FULL = (
    "There is no room left on the disk. Delete old runs or projects, or enlarge the disk; finished "
    "epochs are kept, and Resume goes on from there."
)


def work_command(options: argparse.Namespace) -> None:
    """Do a job of a project; its row stores how it ended, its log says why."""
    project = open_project(options.project)
    sweep_leftovers(project)
    state = do_job(project, options.job, is_own_process=True)
    print_aside(f"{_clock()} {state}")


def do_job(
    project: Project,
    id: str,
    on_progress: "OnProgress | None" = None,
    *,
    is_own_process: bool = False,
) -> str:
    """Do a job in this process and return the state that it ended in.

    `on_progress` hears every epoch, in addition to the rows of the job. Only a process that was
    started for this job alone (`is_own_process`) is ended by force: when the job does not stop, or
    is gone. Any other program goes on after the job. On a full disk, such a process waits until it
    can store how the job ended; any other program raises InputError after a few attempts.
    """
    use_language(project.language())
    report = open_report(project.folder, id)
    stop = threading.Event()
    if is_own_process:
        heart = Heart(report, lambda: _stop(report, stop), _leave)
    else:
        heart = Heart(report, stop.set, stop.set)
    try:
        state, message = _do(project, report, heart, stop, on_progress)
        heart.stop()  # first: a beat after the end would find that the job is not its own any more
        _store_end(report, state, message, 0 if is_own_process else _PATIENCE)
        return state
    except Superseded:
        return "superseded"
    finally:
        heart.stop()


def _do(
    project: Project,
    report: Report,
    heart: Heart,
    stop: threading.Event,
    on_progress: "OnProgress | None",
) -> tuple[str, str]:
    """Do what was asked; return the state it ended in and why. The whole error goes to the log."""
    state, message = "cancelled", CANCELLED
    try:
        report.claim()
        heart.start()
        if _wait_for_turn(report, stop):
            # Imported here: torch takes seconds and memory that a waiting job does not need.
            from engine.jobs.worker.kinds import do_work

            if do_work(project, report, stop.is_set, on_progress):
                state, message = "done", ""
    except Superseded:
        raise
    except KeyboardInterrupt:
        pass
    except Exception as error:
        # A project that was deleted meanwhile has no place for a log.
        with suppress(OSError), open(report.job.folder / LOG, "a", encoding="utf-8") as log:
            traceback.print_exc(file=log)
        state, message = "failed", _sentence(error)
    return state, message


def _store_end(report: Report, state: str, message: str, attempts: int) -> None:
    """Store how the job ended. While the disk is full, try again: `attempts` times, or for ever.

    Until then the log has the reason, if anything can be written at all: from there `settle` takes
    it if this process is killed meanwhile.
    """
    is_logged, tried = False, 0
    while True:
        try:
            report.finish(state, message)
            return
        except (InputError, sqlite3.Error) as error:
            if not report.has_project:
                raise Superseded from error
            tried += 1
            if not is_logged:
                is_logged = _log_end(report, state, message)
            if tried == attempts:
                raise InputError(message or str(error)) from error
        time.sleep(_RETRY_SECONDS)


def _log_end(report: Report, state: str, message: str) -> bool:
    try:
        with open(report.job.folder / LOG, "a", encoding="utf-8") as log:
            log.write(end_line(report.job, state, message))
    except OSError:
        return False
    return True


def _sentence(error: Exception) -> str:
    if isinstance(error, InputError):
        text = " ".join(str(error).split())
        return text if text.endswith((".", "?", "!")) else f"{text}."
    if isinstance(error, MemoryError | BrokenProcessPool):
        return _OUT_OF_MEMORY
    if is_disk_full(error):
        return _DISK_FULL
    first = (str(error).strip().splitlines() or [""])[0][:200]
    return f"Stopped by an error ({type(error).__name__}: {first}). The log has the details."


def _wait_for_turn(report: Report, stop: threading.Event) -> bool:
    """Return True when it is the job's turn, False when it was cancelled while it waited."""
    waited_for = ""
    while not stop.is_set():
        if report.begin():
            note_all([f"{_clock()} begun, process {os.getpid()}"])
            return True
        first = report.waits_for()
        if first and first != waited_for:
            report.progress(message=f"Waiting for job {first}.")
            waited_for = first
        settle(report.folder)  # the job ahead may be dead, with nobody else to notice
        stop.wait(_TURN_SECONDS)
    return False


def _stop(report: Report, stop: threading.Event) -> None:
    """Stop at the next batch. Reading and labeling have none, so they are ended by force."""
    stop.set()

    def end() -> None:
        time.sleep(_GRACE_SECONDS)
        try:
            report.finish("cancelled", CANCELLED)
        except Superseded:
            return  # it has stopped by itself
        except (InputError, sqlite3.Error):
            pass  # a full disk; whoever looks at the job next stores that it was stopped
        os._exit(0)

    threading.Thread(target=end, daemon=True).start()


def _leave() -> None:
    """End at once: the project or the job is gone, so nothing may be written any more."""
    os._exit(3)


def _clock() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S")
