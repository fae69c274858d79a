"""The app as `make app` starts it, on a free port and a data folder of its own."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine import jobs
from engine.projects.workspace import list_projects, open_project
from tests.support.waiting import LIMIT, wait_until

ROOT = Path(__file__).resolve().parents[2]


class Server:
    """The app's process; it can be killed and started again at the same address."""

    def __init__(self, data: Path, log: Path, *options: str, **environment: str) -> None:
        self.data, self.log = data, log
        self.corpora = data.parent / "corpora"  # the folder that large corpora may be in
        self.options, self.environment = options, environment
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen | None = None
        self.read = 0  # bytes of the log

    def start(self) -> None:
        """Start the app and wait until it answers."""
        command = [sys.executable, "-m", "engine", "app", "--headless", *self.options]
        command += ["--address", "127.0.0.1", "--port", str(self.port)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOSSA_DATA": str(self.data)}
        environment |= {"GLOSSA_SHARDS": str(self.corpora), "HF_HUB_OFFLINE": "1"}
        environment |= self.environment
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
        self.wait_until_healthy()

    def wait_until_healthy(self) -> None:
        wait_until(self.is_healthy, "the app answers", every=0.2)

    def is_healthy(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, f"the app ended at once:\n{self.log.read_text()}"
        try:
            with urllib.request.urlopen(f"{self.address}/_stcore/health", timeout=60):
                return True
        except OSError:
            return False

    def kill(self) -> None:
        """Kill the process, as the system might; its jobs continue."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=LIMIT)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.kill()

    def faults(self) -> str:
        """Return the log since the last call, from its first traceback on; "" if it has none.

        A page shows only a sentence about an error; the log has the traceback.
        """
        text = self.log.read_bytes()[self.read :].decode(errors="replace")
        self.read = self.log.stat().st_size
        return text[text.index("Traceback") :] if "Traceback" in text else ""


@contextmanager
def running_server() -> Iterator[Server]:
    """Yield the running app; `engine` uses its data folder in this process too."""
    with tempfile.TemporaryDirectory(prefix="glossa-", ignore_cleanup_errors=True) as folder:
        data = Path(folder) / "data"
        server = Server(data, Path(folder) / "server.log")
        before = os.environ.get("GLOSSA_DATA")
        os.environ["GLOSSA_DATA"] = str(data)
        try:
            server.start()
            yield server
        finally:
            server.stop()
            end_jobs()
            os.environ.pop("GLOSSA_DATA")
            if before is not None:
                os.environ["GLOSSA_DATA"] = before


def end_jobs() -> None:
    """End jobs that still train; they outlive the server on purpose."""
    for summary in list_projects():
        if not summary.problem:
            jobs.end_all(open_project(summary.id))


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
