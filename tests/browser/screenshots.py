"""Take pictures of the pages: `make screenshots`, or `python -m tests.browser.screenshots --all`.

Those at 1440 px go to docs/screenshots, those at 900 px (for a look, not to keep) to /tmp. With
--all every tab is taken, the further ones to /tmp as well.
"""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page

from tests.browser.conftest import ROOT, running_app, running_browser

KEPT = ROOT / "docs" / "screenshots"
OTHERS = Path(tempfile.gettempdir()) / "glossa-screenshots"
HEIGHT = 1000  # pixels
TABS = ("Text", "Coverage", "Conflicts", "Precision", "Noisy phrases")


def main(tabs: tuple[str, ...]) -> None:
    for folder in (KEPT, OTHERS):
        folder.mkdir(parents=True, exist_ok=True)
    with running_app() as address, running_browser() as browser:
        for width in (1440, 900):
            for theme in ("light", "dark"):
                take(browser, address, width, theme, tabs)


def take(browser: Browser, address: str, width: int, theme: str, tabs: tuple[str, ...]) -> None:
    viewport = {"width": width, "height": HEIGHT}
    page = browser.new_page(viewport=viewport, color_scheme=theme, reduced_motion="reduce")
    page.goto(address)
    for tab in tabs:
        page.get_by_role("tab", name=tab).click()
        page.mouse.move(width - 1, HEIGHT - 1)  # nothing looks hovered over
        settle(page)
        name = "labels" if tab == "Text" else f"labels-{tab.split()[0].lower()}"
        folder = KEPT if tab == "Text" and width == 1440 else OTHERS
        path = folder / f"{name}-{width}-{theme}.png"
        page.screenshot(path=path)
        print(f"{path}  {path.stat().st_size / 1000:.0f} kB")  # noqa: T201
    page.close()


def settle(page: Page) -> None:
    """Wait until the server has drawn everything and the browser has too."""
    page.wait_for_selector(".stApp[data-test-script-state='notRunning']")
    page.wait_for_load_state("networkidle")
    page.wait_for_function("!document.querySelector('[data-testid=stSkeleton]')")
    page.wait_for_timeout(1_500)  # charts and tables are painted after that


if __name__ == "__main__":
    main(TABS if "--all" in sys.argv else TABS[:1])
