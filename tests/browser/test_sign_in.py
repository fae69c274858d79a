"""Two people sign in through a real provider of OpenID Connect, and share a project.

The provider is oidc-provider-mock, a program of its own that speaks the whole protocol over HTTP:
discovery, the code and its exchange for a signed token, claims, the end of a session. The app reads
a secrets.toml as docs/operate.md shows it; nothing of Glossa or Streamlit is replaced.
"""

import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import watch
from tests.browser.server import ROOT, Server, free_port
from tests.browser.steps import HOME, figure, main, press, see_page, upload
from tests.support.waiting import LIMIT_MS, wait_until

pytestmark = pytest.mark.browser

ANN, BOB = "ann@example.org", "bob@example.org"
USERS = {  # by the name that the provider knows them by: what it tells about them
    "ann": {"email": ANN, "email_verified": True},
    "bob": {"email": "Bob@Example.org", "email_verified": True},
    "eve": {"email": ANN, "email_verified": False},
    "zoe": {"email": "zoe@elsewhere.example", "email_verified": True},
}


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the running provider."""
    port = free_port()
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port)]
    for name, claims in USERS.items():
        command += ["--user-claims", json.dumps({"sub": name, **claims})]
    log = tmp_path_factory.mktemp("provider") / "log"
    with open(log, "wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)

    def answers() -> bool:
        assert process.poll() is None, f"the provider ended at once:\n{log.read_text()}"
        try:
            return bool(urllib.request.urlopen(metadata_url(f"http://127.0.0.1:{port}"), timeout=9))
        except OSError:
            return False

    try:
        wait_until(answers, "the provider answers", every=0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=60)


def metadata_url(provider: str) -> str:
    return f"{provider}/.well-known/openid-configuration"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, provider: str) -> Iterator[Server]:
    """An app of its own, with the provider in its secrets; it shadows the app of the journey."""
    folder = tmp_path_factory.mktemp("sign-in")
    secrets = folder / ".streamlit" / "secrets.toml"
    secrets.parent.mkdir()
    server = Server(folder / "data", folder / "log", HOME=str(folder), GLOSSA_USERS="*@example.org")
    [text] = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/operate.md").read_text("utf-8"), re.S)
    for old, new in {
        "https://notes.example": server.address,
        '"…"': '"glossa"',
        "https://provider.example/.well-known/openid-configuration": metadata_url(provider),
    }.items():
        assert old in text
        text = text.replace(old, new)
    secrets.write_text(text, "utf-8")
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def app(server: Server) -> str:
    return server.address


@pytest.fixture(scope="module")
def open_as(browser, app, provider, faults):
    """Return a function that opens a tab in the browser of a person: one set of cookies each."""
    contexts = {}

    def open_tab(name: str, path: str = "") -> Page:
        if name not in contexts:
            contexts[name] = browser.new_context(viewport={"width": 1440, "height": 1200})
            contexts[name].set_default_timeout(LIMIT_MS)
            # The provider's pages ask for a style sheet of another host.
            contexts[name].route("https://**", lambda route: route.fulfill(body=""))
        page = contexts[name].new_page()
        watch(page, app, faults, provider)
        page.goto(f"{app}/{path}")
        return page

    yield open_tab
    for context in contexts.values():
        context.close()


def sign_in(page: Page, name: str) -> None:
    press(page, "Sign in")
    page.get_by_role("button", name=name, exact=True).click()  # at the provider


def sign_out(page: Page) -> None:
    page.get_by_test_id("stSidebar").get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="End session").click()  # at the provider


def open_more(page: Page, project: str) -> None:
    """Open the menu of a project on Home."""
    page.locator(f".st-key-home_more_{project}").get_by_role("button", name="More").click()


def asks_to_sign_in(page: Page) -> None:
    expect(main(page).get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    expect(page.get_by_test_id("stSidebar").get_by_role("link")).to_have_count(0)


@pytest.fixture(scope="module")
def ann(open_as) -> Page:
    page = open_as("ann")
    asks_to_sign_in(page)
    sign_in(page, "ann")
    see_page(page, HOME)
    return page


@pytest.fixture(scope="module")
def bob(open_as) -> Page:
    page = open_as("bob")
    sign_in(page, "bob")
    see_page(page, HOME)
    return page


@pytest.fixture(scope="module")
def project(ann, app) -> str:
    """The id of the project that Ann makes."""
    ann.goto(app)
    see_page(ann, HOME)
    ann.get_by_role("textbox", name="Name of the new project").fill("Plans")
    press(ann, "Create project")
    see_page(ann, "Text")
    return re.search(r"project=([\w-]+)", ann.url)[1]


def test_people_are_known_by_the_address_that_the_provider_confirms(ann, bob):
    for page, address in ((ann, ANN), (bob, BOB)):
        expect(page.get_by_test_id("stSidebar")).to_contain_text(f"Signed in as {address}")


def test_the_owner_uploads_and_downloads(ann, app, project, tmp_path):
    ann.goto(f"{app}/text?project={project}")
    see_page(ann, "Text")
    file = tmp_path / "notes.txt"
    file.write_text("Aspirin relieves pain. It may hurt the stomach.\n")
    upload(ann, "Add text files", file)
    press(ann, "Save to the project")
    expect(figure(ann, "Documents")).to_have_text("1")
    ann.goto(app)
    see_page(ann, HOME)
    open_more(ann, project)
    with ann.expect_download() as started:
        ann.get_by_role("button", name="Download as zip").click()
    assert Path(started.value.path()).read_bytes()[:2] == b"PK"


def test_someone_elses_project_is_not_seen_until_it_is_shared(ann, bob, app, project):
    bob.goto(app)
    see_page(bob, HOME)
    expect(main(bob)).not_to_contain_text("Plans")
    bob.goto(f"{app}/text?project={project}")
    expect(bob.get_by_test_id("stAlert")).to_contain_text("no project")

    ann.goto(app)
    see_page(ann, HOME)
    open_more(ann, project)
    ann.get_by_role("textbox", name="Share with").fill(" BOB@example.org")
    ann.get_by_role("button", name="Share", exact=True).click()
    expect(main(ann)).to_contain_text("yours, shared with 1")

    bob.goto(app)
    see_page(bob, HOME)
    expect(main(bob)).to_contain_text(f"shared by {ANN}")
    bob.goto(f"{app}/text?project={project}")
    see_page(bob, "Text")


@pytest.mark.parametrize(
    ("name", "said"),
    [("eve", "no confirmed e-mail address"), ("zoe", "may not use this server")],
)
def test_an_account_that_may_not_come_in_is_told_why_and_can_leave(open_as, name, said):
    page = open_as(name)
    sign_in(page, name)
    expect(page.get_by_test_id("stAlert")).to_contain_text(said)
    expect(main(page)).not_to_contain_text("Plans")
    press(page, "Sign out")
    page.get_by_role("button", name="End session").click()
    asks_to_sign_in(page)


def test_someone_who_is_refused_by_the_provider_can_try_again(open_as):
    page = open_as("nobody")
    press(page, "Sign in")
    page.get_by_role("button", name="Deny").click()
    asks_to_sign_in(page)


def test_signing_out_ends_every_tab(open_as, bob, ann, app):
    other = open_as("bob", "text?project=sample")
    see_page(other, "Text")
    bob.goto(app)
    see_page(bob, HOME)
    sign_out(bob)
    asks_to_sign_in(bob)
    link = other.get_by_test_id("stSidebar").get_by_role("link", name="Dictionaries")

    def asks_after_a_click() -> bool:
        """The first click finds the connection ended; the page connects again, as nobody."""
        if link.is_visible():
            link.click()
        return main(other).get_by_role("button", name="Sign in", exact=True).is_visible()

    wait_until(asks_after_a_click, "the other tab asks to sign in", every=1)
    asks_to_sign_in(other)

    ann.reload()  # only Bob has signed out
    expect(ann.get_by_test_id("stSidebar")).to_contain_text(f"Signed in as {ANN}")
