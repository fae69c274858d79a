"""Measure how time and memory grow with the text, from 10 k to 10 M tokens.

The text is that of bench.large_project; a tenth as many phrases as tokens are in the dictionaries.
Every step runs in a process of its own, so its peak memory is its own:

    label      `glossa label`, from files to files, one worker
    train      `glossa train`, Conf-MPU with one epoch per stage, one worker
    predict    `glossa predict` on the same text with that run (so train is measured, too)
    compare    what Compare computes: gold, dictionaries and three methods pooled, scored, compared
    review     what Review computes: all items, and every order of the queue
    pages      each page of the app: every tab opened for the first time and again (no browser)

The exponent between two sizes is the slope of log processor seconds against log tokens: 1 is
linear, n log n is at most 1.1 here. A mark says where it is over 1.15 and the larger size takes 2 s
or more, and where a step needs over 4 GB.

    python -m bench.growth [--tokens 10000,100000] [--parts label,predict,pages] [--preset quick]
                           [--data DIR] [--time-limit SECONDS]
"""

# The process that starts the steps imports nothing large: a new process inherits its peak memory.
import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from bench import environment

TOKENS = (10_000, 100_000, 1_000_000, 10_000_000)
PARTS = ("label", "train", "predict", "compare", "review", "pages")
TOKENS_PER_PHRASE = 10
MOST_EXPONENT, FLOOR_SECONDS, MOST_MB = 1.15, 2.0, 4_096
PAGE = "page:"  # begins the names of steps that open a page; the page's name follows
FIRST_LOOK = "first look at labels"
_MADE = "made.json"
_WIDTH = 44  # of the first column


class Cell(NamedTuple):
    """What something took at one size."""

    seconds: float
    cpu: float  # processor seconds, which other work on the machine disturbs less
    peak_mb: int


# ---- steps, each in a process of its own ----------------------------------------------------


def make(folder: Path, tokens: int) -> dict[str, Cell]:
    """Write the files and the project of one size."""
    from bench.large_project import make_inputs, project_with

    inputs = make_inputs(tokens, tokens // TOKENS_PER_PHRASE)
    for file in (inputs.text, *inputs.dictionaries):
        (folder / file.name).write_bytes(file.data)
    project = project_with(inputs)
    (folder / _MADE).write_text(json.dumps({"project": project.id}))
    return {}


def label(folder: Path) -> dict[str, Cell]:
    return _command(
        "label", _text(folder), *_dictionaries(folder), "--out", str(folder / "labels.csv")
    )


def train(folder: Path, preset: str) -> dict[str, Cell]:
    import engine.runs  # noqa: F401  (torch takes seconds to load, whatever the text)

    epochs = ("--set", "epochs=1", "confidence_epochs=1")
    options = ("--methods", "conf_mpu", "--preset", preset, *epochs, "--out", str(folder / "runs"))
    return _command("train", _text(folder), *_dictionaries(folder), *options)


def predict(folder: Path) -> dict[str, Cell]:
    import engine.runs  # noqa: F401

    [run] = (folder / "runs").glob("conf_mpu*")
    return _command(
        "predict", _text(folder), "--run", str(run), "--out", str(folder / "found.jsonl")
    )


def _text(folder: Path) -> str:
    return str(folder / "large.jsonl")


def _dictionaries(folder: Path) -> tuple[str, ...]:
    return ("--dictionary", *map(str, sorted(folder.glob("*.txt"))))


def _command(name: str, *arguments: str) -> dict[str, Cell]:
    """Run a command of `glossa` here."""
    from engine.cli import main as glossa

    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        cell, code = _measured(glossa, [name, *arguments, "--workers", "1", "--no-limits"])
    assert not code, f"glossa {name} ended with code {code}"
    return {name: cell}


def compare(folder: Path) -> dict[str, Cell]:
    """Compute the tables of the page Compare."""
    from engine import scoring
    from engine.projects import labels_of
    from engine.run_folder import PREDICTIONS, read_marks

    project, runs = _finished(folder)

    def work() -> None:
        corpus, labels = project.corpus(), labels_of(project)
        gold = project.gold(corpus)
        sets = {"gold": scoring.on_tokens(corpus.documents, gold.entities)}
        sets["dictionary"] = scoring.marks_of_labels(labels, list(corpus.sentences))
        sets |= {name: read_marks(path / PREDICTIONS) for name, path in runs.items()}
        pool = scoring.pool_entities(corpus.documents, sets)
        bounds = [0]
        for document in corpus.documents:
            bounds.append(bounds[-1] + len(document.sentences))
        annotated = set(gold.entities)
        scoring.score_table(
            scoring.score_pool(pool, "gold", annotated, sentences_by_document=bounds)
        )
        places = scoring.seen_places(pool, "gold", corpus.documents, labels)
        scoring.seen_recall(pool, "gold", places)
        methods = scoring.choose(pool, [name for name in sets if name != "gold"])
        scoring.agreement_matrix(pool)
        scoring.found_alone(methods)
        scoring.combinations(methods)
        scoring.confusion(pool, "gold", "mpn")
        scoring.reliability(pool, "gold")
        scoring.entity_counts(pool)
        scoring.changed_entities(pool, "mpn", "conf_mpu")

    return {"compare": _measured(work)[0]}


def review(folder: Path) -> dict[str, Cell]:
    """Compute the queues of the page Review."""
    from engine.labels import match_options
    from engine.projects import labels_of
    from engine.review import DICTIONARY, ORDERS, known_phrases, make_items, make_queue
    from engine.run_folder import PREDICTIONS, read_marks
    from engine.scoring import marks_of_labels

    project, runs = _finished(folder)

    def work() -> None:
        corpus, labels = project.corpus(), labels_of(project)
        sets = {name: read_marks(path / PREDICTIONS) for name, path in runs.items()}
        sets[DICTIONARY] = marks_of_labels(labels, list(corpus.sentences))
        items = make_items(corpus.documents, sets)
        dictionaries = project.dictionaries_at(project.dictionary_version())
        known = known_phrases(dictionaries, match_options(project.match_preset()), labels.folding)
        for order in ORDERS:
            make_queue(items, order, 0, known.hold)

    return {"review": _measured(work)[0]}


def _finished(folder: Path) -> tuple[Any, dict[str, Path]]:
    """Return the project and the folders of its run, by method."""
    from engine import jobs
    from engine.export import methods_with_entities, runs_with_entities
    from engine.projects import open_project

    project = open_project(_project_id(folder))
    [job] = runs_with_entities(project)
    return project, {name: jobs.run_folder(job, name) for name in methods_with_entities(job)}


def _project_id(folder: Path) -> str:
    return str(json.loads((folder / _MADE).read_text())["project"])


def look(folder: Path) -> dict[str, Cell]:
    """Open Distant labels for the very first time, which labels the text."""
    from bench.ui import open_page

    app = _server(folder)
    return {FIRST_LOOK: _measured(open_page, app, "labels")[0]}


def page(folder: Path, name: str) -> dict[str, Cell]:
    """Open each tab of a page for the first time on a new server; then each again."""
    from bench.ui import TABS, open_page

    app, cells = _server(folder), {}
    for again in ("", ", again"):
        for tab in TABS[name]:
            where = f"page {name}, {tab}" if tab else f"page {name}"
            cells[where + again] = _measured(open_page, app, name, tab)[0]
    return cells


def _server(folder: Path) -> Any:
    """Return a new session of the app, all modules loaded."""
    from bench.ui import draw, visit

    draw(visit(""))
    return visit(_project_id(folder))


def _measured(work: Callable[..., Any], *arguments: Any) -> tuple[Cell, Any]:
    begun, cpu = time.perf_counter(), cpu_seconds()
    result = work(*arguments)
    seconds, used = time.perf_counter() - begun, cpu_seconds() - cpu
    return Cell(round(seconds, 3), round(used, 3), peak_mb()), result


_WHO = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)


def cpu_seconds() -> float:
    """Return the processor time of this process and of those that it started."""
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, _WHO))


def peak_mb() -> int:
    """Return the most memory that this process or one that it started ever had."""
    return max(used.ru_maxrss for used in map(resource.getrusage, _WHO)) // 1024


def do(step: str, folder: Path, tokens: int, preset: str) -> dict[str, Cell]:
    """Do one step in this process."""
    if step.startswith(PAGE):
        return page(folder, step.removeprefix(PAGE))
    if step == "make":
        return make(folder, tokens)
    if step == "train":
        return train(folder, preset)
    steps = {"label": label, "predict": predict, "compare": compare, "review": review}
    return {**steps, "look": look}[step](folder)


# ---- all steps of one size ------------------------------------------------------------------


def steps_of(parts: Sequence[str]) -> list[str]:
    """Return the steps of the parts, in order, with those that they need.

    >>> steps_of(["predict", "review"])
    ['make', 'train', 'predict', 'look', 'review']
    """
    steps = ["make"]
    if "label" in parts:
        steps.append("label")
    if {"train", "predict"} & set(parts):
        steps.append("train")
    if "predict" in parts:
        steps.append("predict")
    if {"compare", "review", "pages"} & set(parts):
        steps.append("look")
    steps += [name for name in ("compare", "review") if name in parts]
    if "pages" in parts:
        steps += [f"{PAGE}{name}" for name in _page_names()]
    return steps


def _page_names() -> list[str]:
    """Return the pages, asked in another process because the answer loads much."""
    code = "from bench.ui import TABS; print(*TABS)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=environment.ROOT, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().split()


def start(step: str, folder: Path, tokens: int, options: argparse.Namespace) -> dict[str, Any]:
    """Do a step in a new process; return its cells by name, or {"failed": why}."""
    command = [sys.executable, "-m", "bench.growth", "--step", step, str(folder)]
    command += ["--tokens", str(tokens), "--preset", options.preset]
    threads = {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    try:
        done = subprocess.run(
            command,
            cwd=environment.ROOT,
            env={**os.environ, **threads, "GLOSSA_DATA": str(folder / "projects")},
            capture_output=True,
            text=True,
            timeout=options.time_limit,
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {options.time_limit:,.0f} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or [f"code {done.returncode}"])[-1]}
    return {name: Cell(*cell) for name, cell in json.loads(done.stdout.splitlines()[-1]).items()}


def measure(tokens: int, data: Path, options: argparse.Namespace) -> Iterator[tuple[str, Any]]:
    """Yield what each step took at one size, when it is done: its name, and a cell or a fault."""
    folder = data / str(tokens)
    folder.mkdir(parents=True, exist_ok=True)
    for step in steps_of(options.parts):
        if step == "make" and (folder / _MADE).exists():
            continue
        cells = start(step, folder, tokens, options)
        if "failed" in cells:
            yield step.replace(PAGE, "page "), cells["failed"]
            if step == "make":
                return
        else:
            yield from cells.items()


# ---- the table ------------------------------------------------------------------------------


def exponents(cells: Mapping[int, Cell]) -> dict[int, float]:
    """Return the exponent up to each size from the one before it, by processor seconds.

    >>> exponents({10: Cell(1, 1, 0), 100: Cell(10, 10, 0), 1000: Cell(1000, 1000, 0)})
    {100: 1.0, 1000: 2.0}
    """
    sizes = sorted(cells)
    return {
        large: round(
            math.log(max(cells[large].cpu, 1e-3) / max(cells[small].cpu, 1e-3))
            / math.log(large / small),
            2,
        )
        for small, large in pairwise(sizes)
    }


def marks(cells: Mapping[int, Cell]) -> list[str]:
    """Return what is wrong with the growth, one phrase each.

    >>> marks({10: Cell(1, 1, 50), 100: Cell(50, 50, 5000)})
    ['1.7 at 100 tokens', '5,000 MB at 100 tokens']
    """
    steep = [
        f"{exponent:.1f} at {size:,} tokens"
        for size, exponent in exponents(cells).items()
        if exponent > MOST_EXPONENT and cells[size].cpu >= FLOOR_SECONDS
    ]
    large = [
        f"{cell.peak_mb:,} MB at {size:,} tokens"
        for size, cell in sorted(cells.items())
        if cell.peak_mb > MOST_MB
    ]
    return steep + large


def show(table: Mapping[str, Mapping[int, Cell]], sizes: Sequence[int]) -> None:
    """Print one line per step: seconds, exponents and memory by size, and the marks."""
    head = "".join(f"{size:>12,}" for size in sizes)
    slopes = " " * 7 * (len(sizes) - 1)
    print(f"\n{'tokens':<{_WIDTH}}{head}{slopes}{head}")
    print(f"{'':<{_WIDTH}}{'s':>12}{' ' * 12 * (len(sizes) - 1)}{slopes}{'MB':>12}")
    for name, cells in table.items():
        exponent = exponents(cells)
        seconds = "".join(f"{cells[s].seconds:>12,.2f}" if s in cells else " " * 12 for s in sizes)
        slope = "".join(f"{exponent[s]:>7.2f}" if s in exponent else " " * 7 for s in sizes[1:])
        memory = "".join(f"{cells[s].peak_mb:>12,}" if s in cells else " " * 12 for s in sizes)
        print(f"{name:<{_WIDTH}}{seconds}{slope}{memory}  {'; '.join(marks(cells))}".rstrip())


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=_numbers, default=TOKENS, help="sizes, with commas")
    parser.add_argument("--parts", type=_words, default=PARTS, help="with commas (all)")
    parser.add_argument("--preset", default="quick", help="of train (%(default)s)")
    parser.add_argument("--data", type=Path, help="folder to keep texts, projects and runs in")
    parser.add_argument("--time-limit", type=float, default=7_200, help="seconds of a step")
    parser.add_argument("--step", nargs=2, help=argparse.SUPPRESS)  # a process of its own
    options = parser.parse_args(arguments)
    if options.step:
        step, folder = options.step
        print(json.dumps(do(step, Path(folder), options.tokens[0], options.preset)))
        return
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"{', '.join(sorted(unknown))}: choose from {', '.join(PARTS)}")
    sizes = sorted(set(options.tokens))
    table: dict[str, dict[int, Cell]] = {}
    failed: list[dict[str, Any]] = []
    load = os.getloadavg()
    with tempfile.TemporaryDirectory(prefix="glossa-bench-") as temporary:
        data = (options.data or Path(temporary)).absolute()
        for size in sizes:
            for name, outcome in measure(size, data, options):
                if isinstance(outcome, Cell):
                    table.setdefault(name, {})[size] = outcome
                    said = f"{outcome.seconds:,.2f} s, cpu {outcome.cpu:,.2f} s, "
                    said += f"{outcome.peak_mb:,} MB"
                else:
                    failed.append({"step": name, "tokens": size, "why": outcome})
                    said = f"failed: {outcome}"
                print(f"{size:>12,} tokens  {name:<{_WIDTH}}{said}", flush=True)
    show(table, sizes)
    rows = [
        {
            "step": name,
            "seconds": {size: cell.seconds for size, cell in cells.items()},
            "cpu_seconds": {size: cell.cpu for size, cell in cells.items()},
            "peak_mb": {size: cell.peak_mb for size, cell in cells.items()},
            "exponents": exponents(cells),
            "marks": marks(cells),
        }
        for name, cells in table.items()
    ]
    about = {"benchmark": "growth", "preset": options.preset, "load": load}
    environment.finish({**about, "rows": rows, "failed": failed})


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(","))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


if __name__ == "__main__":
    main()
