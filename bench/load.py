"""Measure the server while many people work at once: time and processor time per rerun, memory.

Each session is a websocket that sends what a browser would send: it opens every page, chooses tabs,
searches and decides, and waits for each answer before the next click. All sessions work in one
project. A rerun is one click, from sending it to the end of the script.

    sample   the sample project, with a finished run; the goal is a median of 1 s and a 95th
             percentile of 2 s for 20 sessions on two quiet cores
    large    an artificial project (1 M tokens, 100 k phrases, gold, predictions of three methods)

    python -m bench.load [--part sample] [--part large] [--sessions 20] [--turns 1] [--wait 600]
                         [--think SECONDS] [--projects 0] [--servers 1] [--against CHECKOUT]

`--servers 2` starts the app twice on one data folder, as docs/operate.md describes it, and gives
each an equal part of the sessions, as a proxy would.
`--against` names a checkout of other code. Its server takes turns with this one, on a copy of the
same project, so that other work on the machine disturbs both alike. It needs Linux.
"""

import argparse
import asyncio
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from bench import environment

START_SECONDS, ANSWER_SECONDS = 120.0, 300.0
CLOCK = os.sysconf("SC_CLK_TCK")
MEDIAN_GOAL, HIGH_GOAL = 1.0, 2.0  # seconds

# What a session does on each page: the key of a widget, and the values that it is set to. Sessions
# take different values, and True presses a button.
JOURNEY: dict[str, tuple[tuple[str, tuple[object, ...]], ...]] = {
    "home": (),
    "text": (
        ("text_find", ("gout", "lithium", "a", "")),
        ("text_tab", ("Gold (for scoring)",)),
    ),
    "dictionaries": (
        ("dictionaries_tab", ("Phrases",)),
        ("phrases_search", ("acid", "in", "a")),
        ("phrases_order", ("A to Z", "Longest", "Shortest")),
        ("dictionaries_tab", ("Charts",)),
        ("dictionaries_tab", ("Versions",)),
    ),
    "labels": (
        ("labels_search", ("lead", "renal", "a")),
        ("labels_search", ("",)),
        ("labels_tab", ("Coverage",)),
        ("labels_tab", ("Missing names",)),
        ("labels_tab", ("Conflicts",)),
        ("labels_tab", ("Precision",)),
        ("check_accepted", (True,)),
        ("check_accepted", (True,)),
        ("labels_tab", ("Noisy phrases",)),
    ),
    "train": (("train_preset", ("Quick", "Paper")),),
    "compare": (
        ("compare_type", ("Disease", "Chemical")),
        ("compare_tab", ("Agreement",)),
        ("compare_tab", ("Sentences",)),
        ("compare_search", ("lead", "renal", "a")),
        ("compare_tab", ("Types",)),
        ("compare_tab", ("Certainty",)),
        ("compare_tab", ("Two runs",)),
    ),
    "curves": (),
    "review": (
        ("review_accept", (True,)),
        ("review_reject", (True,)),
        ("review_tab", ("Dictionary candidates",)),
        ("review_tab", ("Decisions",)),
    ),
    "predict": (),
    "export": (("export_format", ("JSON lines", "CoNLL")),),
}


# ---- the server -----------------------------------------------------------------------------


class Server:
    """The app as `glossa app` starts it, on a free port."""

    def __init__(self, root: Path, data: Path) -> None:
        self.root, self.data = root, data
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self._log = data.parent / f"{data.name}-{self.port}.log"

    def start(self) -> None:
        """Start the app and wait until it answers."""
        command = [sys.executable, "-m", "engine", "app", "--headless", "--address", "127.0.0.1"]
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                [*command, "--port", str(self.port)],
                cwd=self.root,
                env={**os.environ, "GLOSSA_DATA": str(self.data), "OMP_NUM_THREADS": "1"},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        end = time.monotonic() + START_SECONDS
        while not self._answers():
            assert self._process.poll() is None, self._log.read_text(encoding="utf-8")
            assert time.monotonic() < end, "the app does not answer"
            time.sleep(0.2)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/_stcore/health", timeout=9):
                return True
        except OSError:
            return False

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def cpu(self) -> float:
        """Return the processor seconds of the server and of processes that it started."""
        return sum(_cpu(pid) for pid in self._pids())

    def memory(self) -> int:
        """Return the resident megabytes of the server and of processes that it started."""
        return round(sum(_kilobytes(pid, "VmRSS") for pid in self._pids()) / 1000)

    def peak(self) -> int:
        """Return the most megabytes that the server itself ever held."""
        return round(_kilobytes(self._process.pid, "VmHWM") / 1000)

    def tracebacks(self) -> int:
        """Return how many tracebacks the server's log has."""
        return self._log.read_text(encoding="utf-8", errors="replace").count("Traceback")

    def _pids(self) -> list[int]:
        pids = [self._process.pid]
        for pid in pids:  # grows while it is read
            for children in Path(f"/proc/{pid}/task").glob("*/children"):
                try:
                    pids += map(int, children.read_text(encoding="ascii").split())
                except OSError:  # the thread has ended
                    continue
        return pids


def _cpu(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:  # the process has ended
        return 0.0
    return sum(map(int, fields[11:15])) / CLOCK  # its own, and of children that have ended


def _kilobytes(pid: int, name: str) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return 0
    return int(status.partition(f"{name}:")[2].split()[0]) if f"{name}:" in status else 0


class Servers:
    """One server, or several on one data folder; each has its own visitors."""

    def __init__(self, root: Path, data: Path, count: int) -> None:
        self._all = [Server(root, data) for _ in range(count)]

    def __len__(self) -> int:
        return len(self._all)

    def port(self, session: int) -> int:
        """Return the port that a session uses all the time."""
        return self._all[session % len(self._all)].port

    def start(self) -> None:
        for server in self._all:
            server.start()

    def stop(self) -> None:
        for server in self._all:
            server.stop()

    def cpu(self) -> float:
        return sum(server.cpu() for server in self._all)

    def memory(self) -> int:
        return sum(server.memory() for server in self._all)

    def peak(self) -> int:
        return sum(server.peak() for server in self._all)

    def tracebacks(self) -> int:
        return sum(server.tracebacks() for server in self._all)


# ---- a session ------------------------------------------------------------------------------


class Widget(NamedTuple):
    """A widget on the page: its id, the field of its state that carries its value, its options."""

    id: str
    field: str
    options: tuple[str, ...] = ()


FIELDS = {
    "button": "trigger_value",
    "button_group": "string_array_value",
    "checkbox": "bool_value",
    "radio": "string_value",
    "selectbox": "string_value",
    "tab_container": "string_value",
    "text_input": "string_value",
}
KEY = re.compile(r"\$\$(?:ID|WIDGET)-[0-9a-f]+-(.+)")


@dataclass
class Work:
    """What all sessions of a turn did."""

    seconds: list[float] = field(default_factory=list)
    seconds_by_page: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)


class Session:
    """One browser: what it sees of the page, and the states of its widgets."""

    def __init__(self, socket: Any, project_id: str, work: Work) -> None:
        self._socket, self._project_id, self._work = socket, project_id, work
        self._page = ""
        self._widgets: dict[str, Widget] = {}
        self._states: dict[str, Any] = {}
        self._cached: set[str] = set()

    async def open(self, page: str) -> None:
        """Go to a page."""
        self._page = page
        self._states.clear()
        await self._rerun("open")

    async def set(self, key: str, value: object) -> None:
        """Set a widget to a value, or press a button."""
        from streamlit.proto.WidgetStates_pb2 import WidgetState

        widget = self._widgets.get(key)
        if widget is None:
            self._fault(key, "there is no such widget")
            return
        if widget.options and value not in widget.options:
            self._fault(key, f"{value} is not one of {widget.options}")
            return
        state = WidgetState(id=widget.id)
        if widget.field == "string_array_value":
            state.string_array_value.data.append(str(value))
        else:
            setattr(state, widget.field, value)
        self._states[widget.id] = state
        await self._rerun(key)
        if widget.field == "trigger_value":
            del self._states[widget.id]

    async def _rerun(self, step: str) -> None:
        from streamlit.proto.BackMsg_pb2 import BackMsg
        from streamlit.util import calc_hash

        message = BackMsg()
        client = message.rerun_script
        client.query_string = f"project={self._project_id}"
        client.page_script_hash = calc_hash(self._page)
        client.cached_message_hashes.extend(self._cached)
        client.widget_states.widgets.extend(self._states.values())
        begun = time.perf_counter()
        await self._socket.send(message.SerializeToString())
        async with asyncio.timeout(ANSWER_SECONDS):
            await self._answer(step)
        seconds = time.perf_counter() - begun
        self._work.seconds.append(seconds)
        self._work.seconds_by_page.setdefault(self._page, []).append(seconds)

    async def _answer(self, step: str) -> None:
        """Read messages to the end of the script, which may start itself again on the way."""
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        while True:
            message = ForwardMsg.FromString(await self._socket.recv())
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self._widgets.clear()
            elif kind == "delta":
                if message.metadata.cacheable:
                    self._cached.add(message.hash)
                self._see(message.delta, step)
            elif kind == "script_finished":
                if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                    return
                if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                    self._fault(step, "the script does not compile")
                    return

    def _see(self, delta: Any, step: str) -> None:
        """Note the widgets and the errors on the page."""
        is_block = delta.WhichOneof("type") == "add_block"
        part = delta.add_block if is_block else delta.new_element
        kind = part.WhichOneof("type") or ""
        if kind == "exception":
            self._fault(step, part.exception.message)
        elif kind == "alert" and part.alert.format == part.alert.ERROR:
            self._fault(step, part.alert.body)
        elif kind in FIELDS and (key := KEY.fullmatch(getattr(part, kind).id)):
            widget = getattr(part, kind)
            options = tuple(widget.options) if kind in ("radio", "selectbox") else ()
            self._widgets[key[1]] = Widget(widget.id, FIELDS[kind], options)

    def _fault(self, step: str, message: str) -> None:
        self._work.errors[f"{self._page}, {step}: {message}"[:200]] += 1


async def travel(server: Servers, project_id: str, number: int, work: Work, think: float) -> None:
    """Open every page once, and do all that JOURNEY says there."""
    import websockets

    pages = list(JOURNEY)
    first = number % len(pages)  # sessions are on different pages
    try:
        async with websockets.connect(
            f"ws://127.0.0.1:{server.port(number)}/_stcore/stream",
            subprotocols=[websockets.Subprotocol("streamlit")],
            max_size=None,
            ping_timeout=None,
        ) as socket:
            session = Session(socket, project_id, work)
            for page in pages[first:] + pages[:first]:
                await session.open(page)
                for step, (key, values) in enumerate(JOURNEY[page]):
                    await asyncio.sleep(think)
                    await session.set(key, values[(number + step) % len(values)])
    except (OSError, TimeoutError, websockets.WebSocketException) as error:
        work.errors[f"the session ended: {type(error).__name__}: {error}"[:200]] += 1


async def all_travel(server: Servers, project_id: str, sessions: int, think: float) -> Work:
    """Let all sessions work at once."""
    work = Work()
    await asyncio.gather(
        *(travel(server, project_id, number, work, think) for number in range(sessions))
    )
    return work


# ---- one part -------------------------------------------------------------------------------


@dataclass
class Measured:
    """The servers of one checkout, and what was measured on them."""

    name: str
    server: Servers
    works: list[Work] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)  # per rerun, one per turn
    megabytes: dict[str, int] = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """Return the figures, ready for JSON."""
        seconds = sorted(s for work in self.works for s in work.seconds)
        errors: Counter[str] = sum((work.errors for work in self.works), Counter())
        pages = {
            page: round(
                statistics.median(s for w in self.works for s in w.seconds_by_page.get(page, [])), 3
            )
            for page in JOURNEY
            if any(page in work.seconds_by_page for work in self.works)
        }
        return {
            "code": self.name,
            "reruns": len(seconds),
            "errors": sum(errors.values()),
            "error_texts": dict(errors.most_common(10)),
            "tracebacks": self.server.tracebacks(),
            "median_s": round(statistics.median(seconds), 3),
            "p95_s": round(seconds[int(0.95 * (len(seconds) - 1))], 3),
            "worst_s": round(seconds[-1], 3),
            "cpu_ms_per_rerun": round(statistics.mean(self.cpu_ms), 1),
            "cpu_ms_per_rerun_by_turn": [round(ms, 1) for ms in self.cpu_ms],
            "median_s_by_page": pages,
            "megabytes": self.megabytes,
        }


def measure(part: str, folder: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure one part on every checkout in turn; return one row per checkout."""
    data = folder / part
    project_id = make_project(part, data, options)
    codes = [("this", environment.ROOT)]
    if options.against:
        codes.append(("against", options.against.absolute()))
    measured = []
    for name, root in codes:
        copy = folder / f"{part}-{name}"
        shutil.copytree(data, copy)
        measured.append(Measured(name, Servers(root, copy, options.servers)))
    with started([each.server for each in measured]):
        for each in measured:
            asyncio.run(open_home(each.server, project_id))
            each.megabytes["before"] = each.server.memory()
            first = asyncio.run(all_travel(each.server, project_id, len(each.server), 0))
            each.megabytes["one session"] = each.server.memory()
            print(f"{part}, {each.name}: caches filled by {len(first.seconds)} reruns", flush=True)
        for _ in range(options.turns):
            for each in measured:
                take_turn(each, project_id, options)
        for each in measured:
            each.megabytes |= {"after": each.server.memory(), "peak": each.server.peak()}
        if options.wait:
            print(f"waiting for {options.wait:g} s", flush=True)
            time.sleep(options.wait)
            for each in measured:
                each.megabytes["later"] = each.server.memory()
        rows = [each.row() for each in measured]
    return rows


def take_turn(measured: Measured, project_id: str, options: argparse.Namespace) -> None:
    """Let all sessions work once, and keep what it cost."""
    before = measured.server.cpu()
    work = asyncio.run(all_travel(measured.server, project_id, options.sessions, options.think))
    measured.works.append(work)
    measured.cpu_ms.append(1000 * (measured.server.cpu() - before) / max(1, len(work.seconds)))
    print(
        f"{measured.name}: {len(work.seconds)} reruns, {work.errors.total()} errors, "
        f"median {statistics.median(work.seconds or [0.0]):.2f} s, "
        f"{measured.cpu_ms[-1]:.0f} ms of CPU per rerun, {measured.server.memory()} MB",
        flush=True,
    )


async def open_home(server: Servers, project_id: str) -> None:
    """Draw one page, so that each server has loaded its modules."""
    import websockets

    subprotocols = [websockets.Subprotocol("streamlit")]
    for number in range(len(server)):
        url = f"ws://127.0.0.1:{server.port(number)}/_stcore/stream"
        async with websockets.connect(url, subprotocols=subprotocols, max_size=None) as socket:
            await Session(socket, project_id, Work()).open("home")


@contextmanager
def started(servers: list[Servers]) -> Iterator[None]:
    """Run the servers for the length of a block."""
    running: list[Servers] = []
    try:
        for server in servers:
            running.append(server)
            server.start()
        yield
    finally:
        for server in running:
            server.stop()


def make_project(part: str, data: Path, options: argparse.Namespace) -> str:
    """Make the part's project in this data folder, and return its id."""
    os.environ["GLOSSA_DATA"] = str(data)
    from bench.large_project import finish_run, make_large_project, plain_gold
    from engine.projects import create_project, sample_project

    for number in range(options.projects):
        create_project(f"Project {number}")
    if part == "large":
        print(f"making a project of {options.tokens:,} tokens", flush=True)
        return make_large_project(options.tokens, options.phrases).id
    project = sample_project()
    finish_run(project, plain_gold(project))
    return project.id


# ---- everything -----------------------------------------------------------------------------


COLUMNS = (
    "part", "code", "reruns", "errors", "median s", "95 % s", "CPU ms per rerun",
    "MB before", "after", "peak", "later",
)  # fmt: skip


def table_row(part: str, row: dict[str, Any]) -> str:
    """Return a row of the table in bench/results/load.md."""
    megabytes = row["megabytes"]
    over = row["median_s"] > MEDIAN_GOAL or row["p95_s"] > HIGH_GOAL
    cells = [
        part, row["code"], f"{row['reruns']:,}", row["errors"] + row["tracebacks"],
        f"{row['median_s']:.2f}", f"{row['p95_s']:.2f}{' (over the goal)' if over else ''}",
        f"{row['cpu_ms_per_rerun']:.0f}",
        *(megabytes.get(name, "–") for name in ("before", "after", "peak", "later")),
    ]  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--part", action="append", choices=("sample", "large"), help="default sample"
    )
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--turns", type=int, default=1, help="how often every session works")
    parser.add_argument("--think", type=float, default=0.0, help="seconds between two clicks")
    parser.add_argument("--wait", type=float, default=600.0, help="seconds until memory is read")
    parser.add_argument("--projects", type=int, default=0, help="other projects on the server")
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--phrases", type=int, default=100_000)
    parser.add_argument("--servers", type=int, default=1, help="server processes (%(default)s)")
    parser.add_argument("--against", type=Path, help="a checkout whose server takes turns")
    options = parser.parse_args()
    if min(options.sessions, options.turns, options.servers) < 1:
        parser.error("--sessions, --turns and --servers must be at least 1")
    print(json.dumps(environment.describe()))
    print(
        f"{options.sessions} sessions, {options.servers} server processes, "
        f"{options.projects} other projects"
    )
    print(f"load of the machine {os.getloadavg()}", flush=True)
    result: dict[str, Any] = {
        "benchmark": "load",
        "sessions": options.sessions,
        "servers": options.servers,
        "other_projects": options.projects,
        "think_s": options.think,
        "wait_s": options.wait,
        "load": os.getloadavg(),
    }
    with tempfile.TemporaryDirectory(prefix="glossa-bench-", ignore_cleanup_errors=True) as folder:
        for part in dict.fromkeys(options.part or ["sample"]):
            result[part] = measure(part, Path(folder), options)
    print(f"\n| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for part in ("sample", "large"):
        for row in result.get(part, []):
            print(table_row(part, row))
            for text, count in row["error_texts"].items():
                print(f"    {count} x {text}")
        if len(rows := result.get(part, [])) == 2:
            ratio = rows[0]["cpu_ms_per_rerun"] / rows[1]["cpu_ms_per_rerun"]
            print(f"CPU per rerun: {ratio:.2f} times that of the other code")
    environment.finish(result)


if __name__ == "__main__":
    main()
