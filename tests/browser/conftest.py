"""One server, one browser and one project for all browser tests, which follow a new user.

The files run in the order of the user's steps, each on what the one before has made. For a file
that runs alone, in another worker, or after one that failed, the engine makes the project instead.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from engine import jobs
from engine.jobs.requests import TrainRequest
from engine.projects.project import Project
from engine.projects.workspace import create_project, list_projects, open_project
from tests.browser import journey
from tests.browser.get_browser import browser_path
from tests.browser.server import Server, running_server
from tests.support.waiting import LIMIT_MS

ORDER = (
    "test_prepare",
    "test_learn",
    "test_use",
    "test_connect",
    "test_guide",
    "test_ways_in",
    "test_ways_out",
    "test_survival",
    "test_markup",
    "test_sign_in",
    "test_proxy",
)
BROWSER_OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
expect.set_options(timeout=LIMIT_MS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        is_ours = item.path.parent == Path(__file__).parent and item.path.stem in ORDER
        return ORDER.index(item.path.stem) if is_ours else -1

    items.sort(key=place)


# ---- server and browser ---------------------------------------------------------------------


@contextmanager
def running_browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=BROWSER_OPTIONS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


@pytest.fixture(scope="session")
def app(server: Server) -> str:
    return server.address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with running_browser() as browser:
        yield browser


# ---- a visitor ------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def faults() -> list[str]:
    """Things no page may do: call another host, open a dialog, log an error to the console."""
    return []


@pytest.fixture(scope="module")
def visitor(browser: Browser, app: str, faults: list[str]):
    """Return a function that opens a tab; all tabs of a test file belong to one visitor."""
    context = browser.new_context(
        viewport={"width": 1440, "height": 1200}, reduced_motion="reduce", accept_downloads=True
    )
    context.set_default_timeout(LIMIT_MS)

    def open_tab(path: str = "") -> Page:
        page = context.new_page()
        watch(page, app, faults)
        page.goto(f"{app}/{path}")
        return page

    yield open_tab
    context.close()


def watch(page: Page, app: str, faults: list[str], *elsewhere: str) -> None:
    """Note what no page of the app may do; pages `elsewhere` are not ours."""
    own = (app, app.replace("http", "ws"), "data:", "blob:", *elsewhere)

    def note(fault: str) -> None:
        if not page.url.startswith(elsewhere):
            faults.append(fault)

    page.on("request", lambda r: r.url.startswith(own) or note(f"asked for {r.url}"))
    page.on("dialog", lambda d: (note(f"dialog {d.message}"), d.dismiss()))
    page.on("pageerror", lambda error: note(f"page error {error}"))
    page.on("console", lambda message: is_fault(message, elsewhere) and note(message.text))


def is_fault(message: ConsoleMessage, elsewhere: tuple[str, ...]) -> bool:
    """Tell real errors from the requests by which Streamlit looks for its server."""
    url = message.location["url"]
    return message.type == "error" and "/_stcore/" not in url and not url.startswith(elsewhere)


@pytest.fixture(scope="module")
def page(visitor) -> Page:
    """The visitor's tab, the same one for all tests of a file."""
    return visitor()


@pytest.fixture(autouse=True)
def nothing_goes_wrong(server: Server, faults: list[str]) -> Iterator[None]:
    """Check after every test that no tab did anything forbidden and no page failed."""
    yield
    all_faults, faults[:] = [*faults, *filter(None, [server.faults()])], []
    if all_faults:
        pytest.fail("\n".join(all_faults), pytrace=False)


# ---- the project of the journey -------------------------------------------------------------


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> journey.Files:
    return journey.write_files(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def prepared(server: Server, files: journey.Files) -> Project:
    """The journey's project with text, gold and dictionaries."""
    ids = [summary.id for summary in list_projects() if summary.name == journey.NAME]
    project = open_project(ids[0]) if ids else create_project(journey.NAME)
    return journey.fill(project, files)


@pytest.fixture(scope="module")
def trained(prepared: Project) -> Project:
    """The journey's project with a finished run of two methods."""
    runs = [job for job in jobs.list_jobs(prepared, "train") if job.state == "done"]
    if not any("conf_mpu" in job.request["methods"] for job in runs):
        request = TrainRequest(("mpn", "conf_mpu"), "quick", settings=journey.SHORT)
        journey.work_off(prepared, jobs.create(prepared, request).id)
    return prepared
