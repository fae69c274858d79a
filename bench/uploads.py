"""Measure what a large upload costs: time and memory of the server and of the process that reads.

A JSON-lines file of `--mb` MB is uploaded to the Text page (Streamlit's AppTest, so without the
upload through the network), shown, saved, and looked at. Then the session ends, and the app's
caches are emptied as they are after five idle minutes.

    python -m bench.uploads [--mb 100]
"""

import argparse
import gc
import json
import logging
import os
import random
import resource
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from bench import environment

os.environ["STREAMLIT_SERVER_FILE_WATCHER_TYPE"] = "none"
APP = environment.ROOT / "ui" / "app.py"


def make_lines(mb: float) -> bytes:
    """Return JSON lines of artificial text, always the same."""
    draw = random.Random(0)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(draw.choices(letters, k=draw.randint(2, 9))) for _ in range(20_000)]
    lines: list[bytes] = []
    size = 0
    while size < mb * 1e6:
        sentences = (" ".join(draw.choices(words, k=20)).capitalize() for _ in range(10))
        record = {"id": str(len(lines)), "text": ". ".join(sentences) + "."}
        lines.append(json.dumps(record).encode() + b"\n")
        size += len(lines[-1])
    return b"".join(lines)


def resident_mb() -> int:
    """Return the memory of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6)


class Step:
    """What a step takes: seconds, processor seconds here and in processes that ended, memory."""

    def __init__(self, name: str, rows: list[dict[str, Any]]) -> None:
        self._row: dict[str, Any] = {"step": name}
        self._rows = rows
        self._over = threading.Event()

    def __enter__(self) -> None:
        self._start = time.perf_counter(), time.process_time(), _apart()
        self._peak = resident_mb()
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while not self._over.wait(0.05):
            self._peak = max(self._peak, resident_mb())

    def __exit__(self, *_: object) -> None:
        self._over.set()
        wall, here, apart = self._start
        self._row |= {
            "seconds": round(time.perf_counter() - wall, 1),
            "cpu_server": round(time.process_time() - here, 1),
            "cpu_reader": round(_apart() - apart, 1),
            "peak_mb": self._peak,
            "after_mb": resident_mb(),
        }
        self._rows.append(self._row)
        print("  ".join(f"{name} {value}" for name, value in self._row.items()), flush=True)


def _apart() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(mb: float) -> list[dict[str, Any]]:
    """Upload a file of this size, and return what each step took."""
    logging.disable(logging.WARNING)  # Streamlit warns when a page runs without a browser
    from streamlit.testing.v1 import AppTest
    from streamlit.util import calc_hash

    from engine.projects import create_project
    from ui.state import idle

    project = create_project("Uploads")
    rows: list[dict[str, Any]] = []
    page: Any = AppTest.from_file(str(APP), default_timeout=3600)
    page._page_hash = calc_hash("text")
    page.query_params["project"] = project.id
    with Step("empty page", rows):
        page.run()
    data = make_lines(mb)
    with Step("preview", rows):
        page.file_uploader[0].set_value([("large.jsonl", data, "application/json")]).run()
    with Step("save", rows):
        [button] = [b for b in page.button if b.label == "Save to the project"]
        button.click().run()
        while project.text_key() == "":
            time.sleep(0.2)
    with Step("look at the text", rows):
        while page.run().get("progress"):
            time.sleep(0.2)
    with Step("idle", rows):
        del page, data, button
        gc.collect()
        rest = idle.Rest()
        rest._used -= idle.IDLE_SECONDS
        rest.look()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mb", type=float, default=100)
    given = parser.parse_args()
    print(json.dumps(environment.describe()))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GLOSSA_DATA"] = folder
        rows = measure(given.mb)
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
    environment.finish({"mb": given.mb, "steps": rows, "reader_peak_mb": round(largest)})


if __name__ == "__main__":
    main()
