"""Run many cases in processes with limits, and keep those that failed.

    python -m tests.fuzz.campaign --cases 100000

Each process runs some thousand cases, each with at most 10 s of CPU time and 1 GB more memory than
at its start. A process that dies is started again after the case that killed it. At the end: a
table by target, and one line of JSON. Ctrl-C prints both for the cases before it, and exits 130.

Cases make and remove many small files, so they run in a file system in memory if there is one with
room: on a disk, most of the time would go to that.
"""

import argparse
import json
import os
import platform
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

CPU_SECONDS, MEMORY = 10, 1_000_000_000  # the most that a file of less than 1 MB may cost
_AT_A_TIME = 5_000  # cases per process; its imports and seeds cost as much as 1,000 cases
_IN_MEMORY, _ROOM = Path("/dev/shm"), 2_000_000_000  # bytes
_GRACE = 20  # CPU seconds more, after which the system itself ends a process


# ---- one process ----------------------------------------------------------------------------


class _TooSlow(BaseException):
    """A case took too much CPU time; no `except Exception` catches it."""


def _raise_too_slow(*_: object) -> None:
    raise _TooSlow


def run_cases(first: int, end: int, outside: list[str]) -> Iterator[dict[str, Any]]:
    """Yield what came of each case, before it a line with its number."""
    from tests.fuzz.cases import Outcome, make_case, run_case

    signal.signal(signal.SIGPROF, _raise_too_slow)
    make_case(first)  # the seeds are no part of any case
    allowed = _address_space() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (allowed, resource.RLIM_INFINITY))
    for number in range(first, end):
        yield {"begins": number}
        used = time.process_time()
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used) + CPU_SECONDS + _GRACE, hard))
        case = make_case(number)
        outside.clear()
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        try:
            outcome = run_case(case)
        except _TooSlow:
            detail = f"more than {CPU_SECONDS} s of CPU time for {len(case.data):,} bytes"
            outcome = Outcome(number, case.seed.target, case.name, "slow", detail)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        if outside and not outcome.is_defect:
            outcome = Outcome(
                number, case.seed.target, case.name, "written outside", ", ".join(outside)
            )
        yield asdict(outcome) | {"seconds": time.process_time() - used, "seed": case.seed.name}


def _address_space() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _watch_writes(outside: list[str]) -> None:
    """Note every file that is opened for writing outside the folder for temporary files."""
    allowed = (os.path.realpath(tempfile.gettempdir()) + os.sep, "/dev/null")

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open" or not isinstance(arguments[0], str | bytes):
            return
        path, mode, flags = arguments
        by_flags = mode is None and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        writes = by_flags or not {*"wax+"}.isdisjoint(mode or "")
        if writes and not os.path.realpath(os.fsdecode(path)).startswith(allowed):
            outside.append(os.fsdecode(path))

    sys.addaudithook(hook)


def _work(first: int, end: int) -> None:
    outside: list[str] = []
    sys.dont_write_bytecode = True
    _watch_writes(outside)
    for record in run_cases(first, end, outside):
        print(json.dumps(record), flush=True)


# ---- all of them ----------------------------------------------------------------------------


class Campaign:
    """What came of the cases so far, and the processes that run them."""

    def __init__(self, folder: Path) -> None:
        self.verdicts: Counter[tuple[str, str]] = Counter()
        self.failed: list[int] = []
        self.done, self.seconds = 0, 0.0
        self.slowest: dict[str, Any] = {"seconds": 0.0}
        self.is_stopped = False
        self._folder, self._lock = folder, threading.Lock()
        self._processes: set[subprocess.Popen[str]] = set()

    def run(self, chunk: range) -> None:
        """Run some cases, whatever happens to the processes that run them."""
        first = chunk.start
        while first < chunk.stop and not self.is_stopped:
            begun, code, stderr = self._run_process(first, chunk.stop)
            if code == 0 or self.is_stopped:
                return
            if begun is None:
                raise SystemExit(f"the fuzzer itself fails:\n{stderr[-3000:]}")
            # The process died with this case; the next one begins after it.
            self._note(
                {
                    "number": begun, "target": "?", "name": "", "verdict": "process died",
                    "detail": f"exit code {code}: {stderr[-2000:]}", "seconds": 0.0,
                }
            )  # fmt: skip
            first = begun + 1

    def _run_process(self, first: int, end: int) -> tuple[int | None, int, str]:
        """Run a process; return the case that it began last, its exit code and its messages."""
        command = [sys.executable, "-m", "tests.fuzz.campaign", "--work", str(first), str(end)]
        begun: int | None = None
        with ExitStack() as stack:
            folder = stack.enter_context(_temporary_folder())
            messages = stack.enter_context(tempfile.TemporaryFile("w+", errors="replace"))
            process = subprocess.Popen(
                command, env={**os.environ, "TMPDIR": folder}, stdout=subprocess.PIPE,
                stderr=messages, text=True, errors="replace",
                start_new_session=True,  # Ctrl-C is for the process that has the table
            )  # fmt: skip
            self._processes.add(process)
            if self.is_stopped:  # it was started while the others were ended
                process.kill()
            assert process.stdout is not None
            for line in process.stdout:
                with suppress(ValueError):  # a killed process may leave half a line
                    record = json.loads(line)
                    begun = record.get("begins", begun)
                    if "verdict" in record:
                        self._note(record)
            code = process.wait()
            process.stdout.close()
            self._processes.discard(process)
            messages.seek(0)
            return begun, code, messages.read()

    def _note(self, outcome: dict[str, Any]) -> None:
        with self._lock:
            self.verdicts[outcome["target"], outcome["verdict"]] += 1
            self.done += 1
            self.seconds += outcome["seconds"]
            self.slowest = max(self.slowest, outcome, key=lambda o: o["seconds"])
            if outcome["verdict"] not in ("read", "refused"):
                self.failed.append(outcome["number"])
                _keep(self._folder, outcome)

    def stop(self) -> None:
        """End all processes; the cases that they were at do not count."""
        self.is_stopped = True
        for process in list(self._processes):
            process.kill()


def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder for the files of cases, in memory if there is room."""
    place = None
    with suppress(OSError):
        if os.access(_IN_MEMORY, os.W_OK) and shutil.disk_usage(_IN_MEMORY).free > _ROOM:
            place = _IN_MEMORY
    return tempfile.TemporaryDirectory(
        prefix="glossa-cases-", dir=place, ignore_cleanup_errors=True
    )


def _keep(folder: Path, outcome: dict[str, Any]) -> None:
    """Write a failing case into the folder: the file, and what came of it."""
    from tests.fuzz.cases import make_case

    case = make_case(outcome["number"])
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{case.number:07d}-{case.seed.target.replace(' ', '-')}"
    (folder / f"{stem}-{Path(case.seed.name).name}").write_bytes(case.data)
    (folder / f"{stem}.txt").write_text(
        f"case {case.number}: {outcome['verdict']}\nname {case.name!r}\n\n{outcome['detail']}\n",
        encoding="utf-8",
        errors="backslashreplace",
    )


def _machine() -> dict[str, Any]:
    describe = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(describe, capture_output=True, text=True).stdout.strip()
    model = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text())
    return {
        "commit": commit,
        "python": platform.python_version(),
        "system": platform.platform(),
        "processor": model[1] if model else platform.machine(),
        "cores": os.cpu_count(),
    }


def run_campaign(cases: int, first: int, workers: int, folder: Path) -> int:
    """Run the cases, print what came of them, and return the exit code."""
    machine, began = _machine(), time.time()
    print("On " + ", ".join(f"{key} {value}" for key, value in machine.items()), flush=True)
    size = min(_AT_A_TIME, -(-cases // workers))
    starts = range(first, first + cases, size)
    chunks = [range(start, min(start + size, first + cases)) for start in starts]
    campaign = Campaign(folder)
    with ThreadPoolExecutor(workers) as pool:
        try:
            running = [pool.submit(campaign.run, chunk) for chunk in chunks]
            for ended in as_completed(running):
                ended.result()
                if sys.stderr.isatty():
                    told = f"{campaign.done:,} of {cases:,}, {len(campaign.failed)} failed"
                    print(f"\r{told}", end="", file=sys.stderr)
        except BaseException as error:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the table is printed, however impatient
            campaign.stop()
            pool.shutdown(cancel_futures=True)
            if not isinstance(error, KeyboardInterrupt):
                raise
            print("\nStopped; what follows is of the cases before.", flush=True)
    _print_table(campaign, folder)
    print(
        json.dumps(
            machine
            | {
                "cases": campaign.done,
                "first": first,
                "is_complete": not campaign.is_stopped,
                "failed": sorted(campaign.failed)[:1000],
                "results": {f"{t}: {v}": n for (t, v), n in sorted(campaign.verdicts.items())},
                "cpu_seconds": round(campaign.seconds, 1),
                "slowest_seconds": round(campaign.slowest["seconds"], 2),
                "slowest_case": campaign.slowest.get("number"),
                "wall_seconds": round(time.time() - began, 1),
            }
        )
    )
    return 130 if campaign.is_stopped else int(bool(campaign.failed))


def _print_table(campaign: Campaign, folder: Path) -> None:
    print(f"\n{'target':<14}{'result':<20}{'cases':>9}")
    for (target, verdict), count in sorted(campaign.verdicts.items()):
        print(f"{target:<14}{verdict:<20}{count:>9,}")
    if campaign.failed:
        print(f"The {len(campaign.failed):,} failing cases are in {folder}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cases", type=int, default=2_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=Path("fuzz-failures"))
    parser.add_argument("--work", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        _work(*options.work)
        return 0
    try:
        return run_campaign(options.cases, options.first, options.workers, options.out)
    except KeyboardInterrupt:  # before the first case
        return 130


if __name__ == "__main__":
    sys.exit(main())
