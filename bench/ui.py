"""Measure how long the server takes to draw a page, on the sample and on a large project.

Pages run without a browser (Streamlit's AppTest), so a figure is the server's part of a click:
running the script and parsing its messages. `cpu` is the same in processor time, which other work
on the machine disturbs less.

    sample   each page of the sample project, with a finished run: opened from another page, then
             clicked; the goal is 300 ms
    large    an artificial project (1 M tokens, 100 k phrases, gold, predictions of three methods):
             labeled for the first time; then, on a server that has just started, each page and tab
             opened for the first time, opened again, and clicked; the goal is 2 s for all but the
             first line

    python -m bench.ui [--part sample] [--part large] [--tokens N] [--phrases N] [--data DIR]
"""

import argparse
import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench import environment
from engine.formats import FORMATS

# Pages run here without `streamlit run`, which would read ui/.streamlit/config.toml.
os.environ["STREAMLIT_SERVER_FILE_WATCHER_TYPE"] = "none"
APP = environment.ROOT / "ui" / "app.py"
CLICK_GOAL, PAGE_GOAL = 300, 2_000  # milliseconds
REPEATS = 5
TABS = {  # per page; "" is the one that is open at first
    "home": ("",),
    "text": ("", "Gold (for scoring)"),
    "dictionaries": ("", "Phrases", "Charts", "Versions"),
    "labels": (
        "",
        "Coverage",
        "Missing names",
        "Conflicts",
        "Precision",
        "Noisy phrases",
        "Variants",
    ),
    "train": ("",),
    "compare": ("", "Agreement", "Sentences", "Types", "Certainty", "Two runs"),
    "curves": ("",),
    "review": ("", "Dictionary candidates", "Decisions", "Measure"),
    "predict": ("",),
    "export": ("",),
}


class Timing(NamedTuple):
    """How long something took, in milliseconds."""

    wall: float
    cpu: float


def timed(action: Callable[..., object], *arguments: object) -> Timing:
    wall, cpu = time.perf_counter(), time.process_time()
    action(*arguments)
    return Timing(
        round(1000 * (time.perf_counter() - wall)), round(1000 * (time.process_time() - cpu))
    )


# ---- the app without a browser --------------------------------------------------------------


def visit(project_id: str) -> Any:
    """Return a new session of the app in this project, before its first page is drawn."""
    logging.disable(logging.WARNING)  # Streamlit warns when a page runs without a browser
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(APP), default_timeout=900)
    app.query_params.update({"project": project_id})
    return app


def open_page(app: Any, name: str, tab: str = "") -> None:
    """Go to a page, with this tab open, and draw it."""
    from streamlit.util import calc_hash

    app._page_hash = calc_hash(name)
    if tab:
        app.session_state[f"{name}_tab"] = tab
    draw(app)


def draw(app: Any) -> None:
    app.run()
    wrong = [*app.exception, *app.error]
    assert not wrong, wrong[0].value


# ---- every click on the sample --------------------------------------------------------------


class Click(NamedTuple):
    """An action on a page; `act` gets the app and the number of earlier repetitions."""

    page: str
    tab: str
    name: str
    act: Callable[[Any, int], object]
    times: int = REPEATS


def press(key: str) -> Callable[[Any, int], object]:
    return lambda app, i: app.button(key=key).click()


def choose(kind: str, key: str, *values: object) -> Callable[[Any, int], object]:
    """Set a widget to one value after the other."""
    return lambda app, i: getattr(app, kind)(key=key).set_value(values[i % len(values)])


def turn_page(app: Any, i: int) -> object:
    return app.pagination[0].set_value(2 + i)


def choose_phrase(app: Any, i: int) -> object:
    return app.selectbox(key="labels_phrase").select_index(i)


def mute_phrase(app: Any, i: int) -> object:
    choose_phrase(app, i)
    draw(app)
    return app.button(key="phrase_mute").click()


def choose_formats() -> list[Click]:
    """Return clicks on every format once, as results are cached; the first is chosen already."""
    names = [name for name, format_ in FORMATS.items() if format_.write][1:]
    groups = [names[i : i + REPEATS] for i in range(0, len(names), REPEATS)]
    return [
        Click(
            "export",
            "",
            "formats from " + group[0],
            choose("radio", "export_format", *group),
            len(group),
        )
        for group in groups
    ]


CLICKS = [
    Click("text", "", "find documents", choose("text_input", "text_find", "gout", "lithium", "a")),
    Click("dictionaries", "Phrases", "search", choose("text_input", "phrases_search", "acid", "a")),
    Click("dictionaries", "Phrases", "another page", turn_page),
    Click(
        "dictionaries",
        "Phrases",
        "another order",
        choose("selectbox", "phrases_order", "A to Z", "Longest", "Shortest"),
    ),
    Click(
        "labels",
        "",
        "another preset",
        choose("segmented_control", "labels_match_preset", "loose", "strict", "balanced"),
    ),
    Click("labels", "", "another page", turn_page),
    Click("labels", "", "search", choose("text_input", "labels_search", "lead", "renal", "a")),
    Click("labels", "", "a type", choose("multiselect", "labels_types", ["Disease"], [])),
    Click("labels", "", "a phrase", choose_phrase),
    Click("labels", "", "mute it", mute_phrase),
    Click("labels", "Precision", "judge a match", press("check_accepted")),
    Click("train", "", "another preset", choose("radio", "train_preset", "quick", "paper")),
    Click("train", "", "a method less", choose("checkbox", "train_method_mpu", False, True)),
    Click(
        "compare", "", "another type", choose("selectbox", "compare_type", "Disease", "Chemical")
    ),
    Click("compare", "Sentences", "another page", turn_page),
    Click("compare", "Sentences", "search", choose("text_input", "compare_search", "lead", "a")),
    Click("curves", "", "more seeds", choose("number_input", "curves_seeds", 2, 3, 1)),
    Click("review", "", "accept", press("review_accept")),
    Click("review", "", "reject", press("review_reject")),
    Click("review", "", "undo", press("review_undo")),
    Click(
        "review",
        "Dictionary candidates",
        "found at least",
        choose("number_input", "review_candidate_count", 1, 3, 2),
    ),
    *choose_formats(),
    Click("export", "", "least score", choose("slider", "export_least_score", 0.5, 0.7, 0.9)),
]


def measure_sample() -> list[dict[str, Any]]:
    """Open each page and tab of the sample, and repeat each click a few times."""
    from bench.large_project import finish_run, plain_gold
    from engine.projects import untrained_sample

    project = untrained_sample()
    finish_run(project, plain_gold(project))
    rows = []
    for name, tabs in TABS.items():
        for tab in tabs:
            app = visit(project.id)
            open_page(app, name, tab)  # fills the caches
            opened = []
            for _ in range(REPEATS):
                open_page(app, "home")
                opened.append(timed(open_page, app, name, tab))
            rows.append(row_of(name, tab, "open", opened))
            progress(rows[-1])
            for click in CLICKS:
                if (click.page, click.tab) == (name, tab):
                    rows.append(row_of(name, tab, click.name, list(done(click, project.id))))
                    progress(rows[-1])
    return rows


def done(click: Click, project_id: str) -> Iterator[Timing]:
    """Repeat the click on the same page and yield the time of each."""
    app = visit(project_id)
    open_page(app, click.page, click.tab)
    for i in range(click.times):
        click.act(app, i)
        yield timed(draw, app)


def row_of(page: str, tab: str, click: str, timings: list[Timing]) -> dict[str, Any]:
    return {
        "page": page,
        "tab": tab,
        "click": click,
        "median_ms": statistics.median(t.wall for t in timings),
        "worst_ms": max(t.wall for t in timings),
        "median_cpu_ms": statistics.median(t.cpu for t in timings),
    }


def progress(row: dict[str, Any], goal: int = CLICK_GOAL) -> None:
    """Print one row of the table of clicks."""
    over = "  over" if row["median_ms"] > goal else ""
    where = f"{row['page']} {row['tab']}".strip()
    print(
        f"{where:<30}{row['click']:<18}{row['median_ms']:>9,.0f}{row['worst_ms']:>9,.0f}"
        f"{row['median_cpu_ms']:>9,.0f}{over}",
        flush=True,
    )


# ---- a large project ------------------------------------------------------------------------


def measure_large(data: Path, tokens: int, phrases: int) -> dict[str, Any]:
    """Open each page and tab of a large project, one after the other."""
    from bench.large_project import make_large_project

    print(f"\nmaking a project of {tokens:,} tokens and {phrases:,} phrases", flush=True)
    begun = time.perf_counter()
    project = make_large_project(tokens, phrases)
    made_ms = round(1000 * (time.perf_counter() - begun))
    print(f"made in {made_ms / 1000:,.0f} s\n\n{LARGE_HEAD}", flush=True)
    # The first visit fills the caches on disk.
    first_labels = in_process(data, "--open", project.id, "labels", "")[0]
    show_large(first_labels | {"page": "first labels"}, goal=0)
    rows = in_process(data, "--tour", project.id)
    for row in rows:
        show_large(row)
    print(f"\n{CLICK_HEAD}")
    for row in rows:
        for click in row["clicks"]:
            progress(click, PAGE_GOAL)
    made = {"tokens": tokens, "phrases": phrases, "made_ms": made_ms}
    return made | {"first_labels_ever": first_labels, "rows": rows}


def in_process(data: Path, *arguments: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.ui", *arguments],
        cwd=environment.ROOT,
        env={**os.environ, "GLOSSA_DATA": str(data)},
        capture_output=True,
        text=True,
        timeout=1_800,
    )
    assert not done.returncode, done.stderr[-3_000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def tour(project_id: str) -> None:
    """Open every page and tab for the first time, then again, and click."""
    app = visit(project_id)
    first = {(p, tab): timed(open_page, app, p, tab) for p, tabs in TABS.items() for tab in tabs}
    for (page, tab), timing in first.items():
        print(json.dumps(measured(app, project_id, page, tab, timing)), flush=True)


def open_once(project_id: str, page: str, tab: str) -> None:
    """Open one page on a server that has just started."""
    app = visit(project_id)
    print(json.dumps(measured(app, project_id, page, tab, timed(open_page, app, page, tab))))


def measured(app: Any, project_id: str, page: str, tab: str, first: Timing) -> dict[str, Any]:
    """Return the times of a page that was opened once before."""
    warm = []
    for _ in range(3):
        open_page(app, "home")
        warm.append(timed(open_page, app, page, tab))
    return {
        "page": page,
        "tab": tab,
        "first_ms": first.wall,
        "first_cpu_ms": first.cpu,
        "warm_ms": statistics.median(t.wall for t in warm),
        "warm_cpu_ms": statistics.median(t.cpu for t in warm),
        "peak_mb": peak_mb(),
        "clicks": [
            row_of(page, tab, click.name, list(done(click, project_id)))
            for click in CLICKS
            if (click.page, click.tab) == (page, tab)
        ],
    }


def peak_mb() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


CLICK_HEAD = f"{'page':<30}{'click':<18}{'median':>9}{'worst':>9}{'cpu':>9}  ms"
LARGE_HEAD = f"{'page':<30}{'first ms':>9}{'cpu':>9}{'warm ms':>9}{'cpu':>9}{'peak MB':>9}"


def show_large(row: dict[str, Any], goal: int = PAGE_GOAL) -> None:
    over = "  over" if goal and row["first_ms"] > goal else ""
    where = f"{row['page']} {row['tab']}".strip()
    print(
        f"{where:<30}{row['first_ms']:>9,}{row['first_cpu_ms']:>9,}"
        f"{row['warm_ms']:>9,}{row['warm_cpu_ms']:>9,}{row['peak_mb']:>9,}{over}",
        flush=True,
    )


# ---- everything -----------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", action="append", choices=("sample", "large"), help="default both")
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--phrases", type=int, default=100_000)
    parser.add_argument("--data", type=Path, help="folder to keep the projects in")
    parser.add_argument("--open", nargs=3, help=argparse.SUPPRESS)  # a process of the large part
    parser.add_argument("--tour", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.open:
        open_once(*options.open)
        return
    if options.tour:
        tour(options.tour)
        return
    result: dict[str, Any] = {"benchmark": "ui", "load": os.getloadavg()}
    with tempfile.TemporaryDirectory(prefix="glossa-bench-") as folder:
        data = (options.data or Path(folder)).absolute()
        os.environ["GLOSSA_DATA"] = str(data)
        parts = options.part or ["sample", "large"]
        if "sample" in parts:
            print(CLICK_HEAD)
            result["sample"] = measure_sample()
        if "large" in parts:
            result["large"] = measure_large(data, options.tokens, options.phrases)
    environment.finish(result)


if __name__ == "__main__":
    main()
