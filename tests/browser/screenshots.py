"""Take pictures of the pages: `make screenshots`, or `python -m tests.browser.screenshots --help`.

Every page of the sample project, with the results that ship with it, light and dark. They go to
docs/screenshots; those that the README shows are kept in the repository.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page

from engine.projects.workspace import sample_project
from tests.browser.conftest import running_browser
from tests.browser.server import ROOT, Server
from tests.browser.steps import settle
from tests.support.waiting import LIMIT_MS

FOLDER = ROOT / "docs" / "screenshots"
HEIGHT, MOST_HEIGHT = 1000, 6000  # pixels
TABS = {  # tabs per page; the first is open at the start
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


def main() -> None:
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="glossa-") as temporary:
        data = (options.data or Path(temporary) / "data").absolute()
        os.environ["GLOSSA_DATA"] = str(data)
        sample_project()
        server = Server(data, Path(temporary) / "server.log")
        try:
            server.start()
            with running_browser() as browser:
                for width in options.widths:
                    for theme in options.themes:
                        take_all(browser, server.address, width, theme, options)
        finally:
            server.stop()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", nargs="+", choices=TABS, default=list(TABS))
    parser.add_argument("--themes", nargs="+", choices=("light", "dark"), default=["light", "dark"])
    parser.add_argument("--widths", nargs="+", type=int, default=[1440], help="e.g. 1440 900")
    parser.add_argument("--tabs", action="store_true", help="every tab, not only the first")
    parser.add_argument("--whole", action="store_true", help="the whole page, however long it is")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder (%(default)s)")
    parser.add_argument("--data", type=Path, help="data folder to make, or to use again")
    return parser.parse_args()


# ---- pictures -------------------------------------------------------------------------------


def take_all(
    browser: Browser, address: str, width: int, theme: str, options: argparse.Namespace
) -> None:
    size = {"width": width, "height": HEIGHT}
    page = browser.new_page(viewport=size, color_scheme=theme, reduced_motion="reduce")
    page.set_default_timeout(LIMIT_MS)
    for name in options.pages:
        page.set_viewport_size(size)
        page.goto(f"{address}/{'' if name == 'home' else name}?project=sample")
        for tab in TABS[name] if options.tabs else TABS[name][:1]:
            page.set_viewport_size(size)
            if tab:
                page.get_by_role("tab", name=tab, exact=True).click()
            words = [name, *tab.lower().split()[:1], str(width), theme]
            take(page, options.out / f"{'-'.join(words)}.png", is_whole=options.whole)
    page.close()


def take(page: Page, path: Path, *, is_whole: bool) -> None:
    wait_until_painted(page)
    if is_whole:
        # The page scrolls inside the window, so make the window as high as the page.
        height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
        page.set_viewport_size(
            {**page.viewport_size, "height": max(HEIGHT, min(height, MOST_HEIGHT))}
        )
        wait_until_painted(page)
    page.mouse.move(page.viewport_size["width"] - 1, 1)  # no element shows its hover style
    page.screenshot(path=path)
    print(f"{path}  {path.stat().st_size / 1000:.0f} kB")  # noqa: T201


def wait_until_painted(page: Page) -> None:
    """Wait until the server has drawn everything and the browser has too."""
    page.wait_for_selector("h1")
    settle(page)
    page.wait_for_load_state("networkidle")
    page.wait_for_function("!document.querySelector('[data-testid=stSkeleton]')")
    page.wait_for_timeout(1_500)  # charts and tables are painted after that


if __name__ == "__main__":
    sys.exit(main())
