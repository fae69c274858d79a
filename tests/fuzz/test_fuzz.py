"""2,000 mutated files are read, or refused in one sentence; `make fuzz` runs any number."""

import pytest

from tests.fuzz.cases import make_case, run_case
from tests.fuzz.seeds import seeds
from tests.fuzz.targets import TARGETS

CASES, PARTS = 2_000, 20


@pytest.mark.parametrize("part", range(PARTS))
def test_a_mutated_file_is_read_or_refused_in_one_sentence(part):
    size = CASES // PARTS
    outcomes = [run_case(make_case(n)) for n in range(part * size, (part + 1) * size)]
    assert [outcome for outcome in outcomes if outcome.is_defect] == []
    assert {"read", "refused"} <= {outcome.verdict for outcome in outcomes}


@pytest.mark.parametrize("seed", seeds(), ids=lambda seed: f"{seed.target} {seed.name}")
def test_a_file_that_our_writers_made_is_read(seed):
    case = make_case(0)
    outcome = run_case(type(case)(0, seed, seed.name, seed.data, case.random))
    assert (outcome.verdict, outcome.detail) == ("read", "")


def test_a_case_is_known_by_its_number():
    seeds.cache_clear()
    before = [make_case(number) for number in range(40)]
    seeds.cache_clear()
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
