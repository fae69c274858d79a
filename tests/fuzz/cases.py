"""One case by its number: a seed, its changes, what came of it, and what counts as a defect."""

import os
import shutil
import tempfile
import traceback
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from engine.text.messages import LONGEST_MESSAGE
from engine.text.model import InputError
from tests.fuzz.mutations import mutate
from tests.fuzz.seeds import PROJECT, Seed, seeds
from tests.fuzz.targets import TARGETS

# How often each target is tried; projects take longest.
_WEIGHTS = {
    "text": 50, "gold": 5, "dictionary": 25, "project zip": 6, "database": 6, "run folder": 8
}  # fmt: skip
_ODD_NAMES = (
    "a\nb", "x" * 250, "line\u2028break", ".hidden", "..", "a b;c,d", "\u202efdp", "", "é" * 120,
    "a\x1b[31mred", "%00", "a" * 3_000,
)  # fmt: skip
_FOLDERS = ("in", "out", "data", "work")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a case: read, refused in one sentence, or a defect."""

    number: int
    target: str
    name: str  # of the mutated file
    verdict: str  # read, refused, or the kind of defect
    detail: str = ""  # the message, or the traceback

    @property
    def is_defect(self) -> bool:
        return self.verdict not in ("read", "refused")


@dataclass(frozen=True, slots=True)
class Case:
    """A mutated file, and the random numbers that go on to decide how it is used."""

    number: int
    seed: Seed
    name: str
    data: bytes
    random: Random


def make_case(number: int) -> Case:
    """Return a case; the same number gives the same case on every machine."""
    random = Random(f"glossa {number}")
    target = random.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
    seed = random.choice([seed for seed in seeds() if seed.target == target])
    others = [other.data for other in seeds()]
    name = seed.name
    if target in ("text", "dictionary", "gold") and random.random() < 0.15:
        ending = Path(random.choice(seeds()).name).suffix if random.random() < 0.5 else ""
        odd = random.choice(_ODD_NAMES) if random.random() < 0.5 else Path(name).stem
        name = f"{odd}{ending or Path(name).suffix}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns about names that are used twice
        data = mutate(seed.name, seed.data, random, others)
    return Case(number, seed, name, data, random)


def run_case(case: Case) -> Outcome:
    """Do with the file what its target does, in a folder of its own."""
    before = os.getcwd()
    folder = Path(tempfile.mkdtemp(prefix="glossa-fuzz-"))
    inner = folder / "a" / "b"
    for name in _FOLDERS:
        (inner / name).mkdir(parents=True)
    try:
        os.chdir(inner / "work")
        verdict, detail = _result(case, inner)
        if not detail and (left := _left_behind(folder, inner, verdict)):
            verdict, detail = "file left behind", left
        return Outcome(case.number, case.seed.target, case.name, verdict, detail)
    finally:
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)


def _result(case: Case, folder: Path) -> tuple[str, str]:
    """Return the verdict, and the detail of a defect."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            notes = list(TARGETS[case.seed.target](case.name, case.data, folder, case.random))
    except InputError as error:
        fault = _fault_of_messages([str(error)])
        return ("message", fault) if fault else ("refused", "")
    except MemoryError:
        return "memory", traceback.format_exc(limit=-8)
    except Exception:
        return "traceback", traceback.format_exc()
    fault = _fault_of_messages(notes)
    return ("message", fault) if fault else ("read", "")


def _fault_of_messages(messages: Iterable[str]) -> str:
    for message in messages:
        if len(message) > LONGEST_MESSAGE or len(message.splitlines()) > 1 or "\0" in message:
            return f"{len(message):,} characters: {message[:500]!r}"
        try:
            message.encode()
        except UnicodeEncodeError:
            return f"not to be written: {message!r}"
    return ""


def _left_behind(folder: Path, inner: Path, verdict: str) -> str:
    """Return a file that should not be there: outside the case's folders, or half written."""
    if [path.name for path in folder.iterdir()] != ["a"] or [*(folder / "a").iterdir()] != [inner]:
        return f"outside: {sorted(map(str, folder.rglob('*')))[:5]}"
    outside = {path.name for path in inner.iterdir()} - set(_FOLDERS)
    if outside or any((inner / "work").iterdir()):
        return f"outside: {sorted(outside)} {sorted((inner / 'work').iterdir())}"
    written = sorted(path.name for path in (inner / "out").iterdir())
    if written and (verdict == "refused" or written != ["written"]):
        return f"partial output: {written}"
    projects = [path.name for path in (inner / "data").iterdir()]
    if hidden := [name for name in projects if name.startswith(".")]:
        return f"half a project: {hidden}"
    if verdict == "refused" and [name for name in projects if name != PROJECT]:
        return f"a refused project: {projects}"
    return ""
