"""The app on a free port and a browser to look at it, one of each for all browser tests."""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.get_browser import browser_path

ROOT = Path(__file__).resolve().parents[2]
BROWSER_OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SECONDS_TO_START = 60


@contextmanager
def running_app() -> Iterator[str]:
    """Start the app as `make app` does, on a data folder of its own, and give its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "ui/app.py", "--server.headless", "true"]
    command += ["--server.address", "127.0.0.1", "--server.port", str(port)]
    with tempfile.TemporaryDirectory(prefix="glossa-data-") as data:
        server = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", "GLOSSA_DATA": data},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_until_healthy(server, f"http://127.0.0.1:{port}/_stcore/health")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(timeout=20)


def wait_until_healthy(server: subprocess.Popen, url: str) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline:
        assert server.poll() is None, f"the app ended at once with code {server.returncode}"
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(f"the app did not answer at {url} within {SECONDS_TO_START} s")


@contextmanager
def running_browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=BROWSER_OPTIONS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def app() -> Iterator[str]:
    with running_app() as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with running_browser() as browser:
        yield browser
