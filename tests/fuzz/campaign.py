"""Run many cases in processes with limits, and keep those that failed.

    python -m tests.fuzz.campaign --cases 100000

Each process runs some hundred cases, each with at most 10 s of CPU time and 1 GB more memory than
at its start. A process that dies is started again after the case that killed it. At the end, or
after Ctrl-C: a table by target, and one line of JSON.
"""

import argparse
import json
import os
import platform
import re
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

CPU_SECONDS, MEMORY = 10, 1_000_000_000  # the most that a file of less than 1 MB may cost
_AT_A_TIME = 250  # cases per process
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
    import tempfile

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


def _run_chunk(folder: Path, chunk: range) -> list[dict[str, Any]]:
    """Return the outcomes of some cases, whatever happens to the processes that run them."""
    outcomes: list[dict[str, Any]] = []
    first = chunk.start
    while first < chunk.stop:
        command = [
            sys.executable,
            "-m",
            "tests.fuzz.campaign",
            "--work",
            str(first),
            str(chunk.stop),
        ]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        records = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        outcomes += [record for record in records if "verdict" in record]
        begun = [record["begins"] for record in records if "begins" in record]
        if done.returncode == 0:
            break
        if not begun:
            raise SystemExit(f"the fuzzer itself fails:\n{done.stderr[-3000:]}")
        # The process died with this case; the next one begins after it.
        outcomes.append(
            {
                "number": begun[-1], "target": "?", "name": "", "verdict": "process died",
                "detail": f"exit code {done.returncode}: {done.stderr[-2000:]}", "seconds": 0.0,
            }
        )  # fmt: skip
        first = begun[-1] + 1
    for outcome in outcomes:
        if outcome["verdict"] not in ("read", "refused"):
            _keep(folder, outcome)
    return outcomes


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
    """Run the cases, print what came of them, and return how many failed."""
    machine, began = _machine(), time.time()
    print("On " + ", ".join(f"{key} {value}" for key, value in machine.items()), flush=True)
    ends = range(first, first + cases, _AT_A_TIME)
    chunks = [range(start, min(start + _AT_A_TIME, first + cases)) for start in ends]
    verdicts: Counter[tuple[str, str]] = Counter()
    slowest: dict[str, Any] = {"seconds": 0.0}
    failed: list[int] = []
    seconds = done = 0.0
    with ThreadPoolExecutor(workers) as pool:
        try:
            for outcomes in pool.map(partial(_run_chunk, folder), chunks):
                for outcome in outcomes:
                    verdicts[outcome["target"], outcome["verdict"]] += 1
                    seconds += outcome["seconds"]
                    slowest = max(slowest, outcome, key=lambda o: o["seconds"])
                    if outcome["verdict"] not in ("read", "refused"):
                        failed.append(outcome["number"])
                done += len(outcomes)
                if sys.stderr.isatty():
                    print(
                        f"\r{done:,.0f} of {cases:,}, {len(failed)} failed", end="", file=sys.stderr
                    )
        except KeyboardInterrupt:
            print("\nStopped; what follows is of the cases before.", flush=True)
    print(f"\n{'target':<14}{'result':<20}{'cases':>9}")
    for (target, verdict), count in sorted(verdicts.items()):
        print(f"{target:<14}{verdict:<20}{count:>9,}")
    if failed:
        print(f"The {len(failed):,} failing cases are in {folder}")
    print(
        json.dumps(
            machine
            | {
                "cases": int(done),
                "first": first,
                "failed": failed[:1000],
                "results": {f"{t}: {v}": n for (t, v), n in sorted(verdicts.items())},
                "cpu_seconds": round(seconds, 1),
                "slowest_seconds": round(slowest["seconds"], 2),
                "slowest_case": slowest.get("number"),
                "wall_seconds": round(time.time() - began, 1),
            }
        )
    )
    return len(failed)


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
    return int(run_campaign(options.cases, options.first, options.workers, options.out) > 0)


if __name__ == "__main__":
    sys.exit(main())
