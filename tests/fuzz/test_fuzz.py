"""2,000 mutated files are read, or refused in one sentence; `make fuzz` runs any number."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from tests.fuzz.cases import make_case, run_case
from tests.fuzz.seeds import corpus, project_files, seeds
from tests.fuzz.targets import TARGETS
from tests.support.waiting import LIMIT, wait_until

ROOT = Path(__file__).resolve().parents[2]

CASES, PARTS = 2_000, 20


@pytest.mark.parametrize("part", range(PARTS))
def test_a_mutated_file_is_read_or_refused_in_one_sentence(part):
    size = CASES // PARTS
    outcomes = [run_case(make_case(n)) for n in range(part * size, (part + 1) * size)]
    assert [outcome for outcome in outcomes if outcome.is_defect] == []
    assert {"read", "refused"} <= {outcome.verdict for outcome in outcomes}


@pytest.mark.parametrize("number", [52854, 57154, 78237, 89705])
def test_cases_that_were_defects_once_are_none(number):
    assert not run_case(make_case(number)).is_defect


@pytest.mark.parametrize("seed", seeds(), ids=lambda seed: f"{seed.target} {seed.name}")
def test_a_file_that_our_writers_made_is_read(seed):
    case = make_case(0)
    outcome = run_case(type(case)(0, seed, seed.name, seed.data, case.random))
    assert (outcome.verdict, outcome.detail) == ("read", "")


def forget_seeds():
    for kept in (seeds, project_files, corpus):
        kept.cache_clear()


def test_a_case_is_known_by_its_number():
    forget_seeds()
    before = [make_case(number) for number in range(40)]
    forget_seeds()
    assert [(c.name, c.data) for c in before] == [
        (c.name, c.data) for c in map(make_case, range(40))
    ]


@pytest.mark.parametrize(
    ("fails", "verdict"),
    [
        (lambda folder: 1 / 0, "traceback"),
        (lambda folder: [b"x" * 10**18], "memory"),
        (lambda folder: ["a\nb"], "message"),
        (lambda folder: ["x" * 301], "message"),
        (lambda folder: ["\ud800"], "message"),
        (lambda folder: (folder.parent / "evil.txt").write_text("x") and [], "file left behind"),
        (lambda folder: (folder / "out" / ".x.part").write_text("x") and [], "file left behind"),
        (lambda folder: (folder / "data" / ".new-1").mkdir(), "file left behind"),
    ],
)
def test_each_kind_of_defect_is_found(monkeypatch, fails, verdict):
    case = make_case(0)

    def target(name, data, folder, random):
        return fails(folder) or []

    monkeypatch.setitem(TARGETS, case.seed.target, target)
    assert run_case(case).verdict == verdict


# ---- the campaign ---------------------------------------------------------------------------


def start_campaign(folder, *options):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.fuzz.campaign", "--out", str(folder / "failures"), *options],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def test_a_campaign_prints_a_table_and_its_figures(tmp_path):
    process = start_campaign(tmp_path, "--cases", "30", "--first", "100", "--workers", "2")
    stdout, stderr = process.communicate(timeout=LIMIT)
    assert (process.returncode, stderr) == (0, "")
    figures = json.loads(stdout.splitlines()[-1])
    assert (figures["cases"], figures["is_complete"], figures["failed"]) == (30, True, [])
    outcomes = [run_case(make_case(number)) for number in range(100, 130)]
    counted = Counter(f"{outcome.target}: {outcome.verdict}" for outcome in outcomes)
    assert figures["results"] == counted


def test_ctrl_c_prints_the_table_of_what_was_done(tmp_path):
    process = start_campaign(tmp_path, "--cases", "1000000", "--workers", "1")
    wait_until(lambda: workers_of(process.pid), "a process runs cases")
    [worker] = workers_of(process.pid)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    stdout, stderr = process.communicate(timeout=LIMIT)
    assert (process.returncode, stderr) == (130, "")
    lines = stdout.splitlines()
    assert "Stopped; what follows is of the cases before." in lines
    assert any(line.startswith("target        result") for line in lines)
    figures = json.loads(lines[-1])
    assert figures["is_complete"] is False and figures["failed"] == []
    assert figures["cases"] == sum(figures["results"].values()) < 1_000_000
    wait_until(lambda: not Path(f"/proc/{worker}").exists(), "no process runs cases any more")


def workers_of(pid):
    """Return the ids of the processes that run cases."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            if parent == str(pid) and b"--work" in (folder / "cmdline").read_bytes():
                found.append(folder.name)
    return found
