"""Find a Chromium for the browser tests, or install one; its path is kept in .venv/browser-path.

`python tests/browser/get_browser.py` prints the path; the tests call `browser_path()`.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

KEPT = Path(__file__).resolve().parents[2] / ".venv" / "browser-path"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC_CHROME = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
HELP = """\
The browser tests need Chromium or Chrome; none was found and none could be installed. Either
  - install one so that `chromium` or `google-chrome` is on PATH (Debian: apt install chromium), or
  - set GLOSSA_BROWSER to the full path of one,
then run `make test` again. All other tests: .venv/bin/python -m pytest -m "not browser"
"""


def browser_path() -> str:
    """Return the path of a browser that starts, installing one if this machine has none."""
    for path in candidates():
        if runs(path):
            KEPT.parent.mkdir(exist_ok=True)
            KEPT.write_text(path + "\n", encoding="utf-8")
            return path
    raise FileNotFoundError(HELP)


def candidates() -> Iterator[str]:
    yield os.environ.get("GLOSSA_BROWSER", "")
    yield KEPT.read_text(encoding="utf-8").strip() if KEPT.exists() else ""
    yield from on_path()
    yield MAC_CHROME
    if shutil.which("apt-get") and os.geteuid() == 0:
        print("Installing Debian's chromium for the browser tests", file=sys.stderr)
        install_with_apt()
        yield from on_path()
    print("Installing Playwright's chromium for the browser tests", file=sys.stderr)
    install = [sys.executable, "-m", "playwright", "install", "chromium"]
    subprocess.run(install, capture_output=True, check=False)
    yield playwright_path()


def on_path() -> Iterator[str]:
    yield from filter(None, map(shutil.which, NAMES))


def runs(path: str) -> bool:
    """Tell whether the browser starts; one that is on disk may still lack its libraries."""
    if not path or not os.access(path, os.X_OK):
        return False
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def install_with_apt() -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-qq", "-y", "--no-install-recommends", "chromium"]
    for command in (["apt-get", "update", "-qq"], install):
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)


def playwright_path() -> str:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


if __name__ == "__main__":
    try:
        print(f"Browser for the tests: {browser_path()}")
    except FileNotFoundError as error:
        sys.exit(str(error))
