"""A person works behind nginx or Caddy, with the very lines of docs/operate.md, and two servers.

Only ports, certificates and the folders for a proxy's own files differ from those lines. A proxy
that is not installed is skipped.
"""

import http.client
import os
import re
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import BROWSER_OPTIONS, watch
from tests.browser.get_browser import browser_path
from tests.browser.server import ROOT, Server, free_port
from tests.browser.steps import HOME, figure, press, see_page, upload
from tests.support.waiting import LIMIT, LIMIT_MS, wait_until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl"),
]
PROXIES = [
    pytest.param(name, marks=pytest.mark.skipif(not shutil.which(name), reason=f"needs {name}"))
    for name in ("nginx", "caddy")
]
NAME, PASSWORD = "notes.example", "correct horse battery"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("proxy")


@pytest.fixture(scope="module")
def servers(folder: Path) -> Iterator[list[Server]]:
    """Two servers on one data folder."""
    (folder / "home").mkdir()
    shared = {"HOME": str(folder / "home"), "GLOSSA_PASSWORD": PASSWORD}
    both = [
        Server(folder / "data", folder / f"log{i}", "--host-name", NAME, **shared) for i in (1, 2)
    ]
    try:
        for server in both:
            server.start()
        yield both
    finally:
        for server in both:
            server.stop()


@pytest.fixture(scope="module")
def server(servers: list[Server]) -> Server:
    """The server whose log is looked at after every test; the other one is looked at below."""
    return servers[0]


def blocks(kind: str) -> list[str]:
    text = (ROOT / "docs" / "operate.md").read_text("utf-8")
    return re.findall(rf"```{kind}\n(.*?)```", text, re.S)


def changed(config: str, changes: dict[str, object]) -> str:
    for old, new in changes.items():
        assert config.count(old) == 1, old
        config = config.replace(old, str(new))
    return config


def nginx_command(folder: Path, port: int, servers: list[Server]) -> list[object]:
    server, upstream = blocks("nginx")
    config = changed(
        upstream + server,
        {
            "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
            "/etc/ssl/notes.example.pem": folder / "pem",
            "/etc/ssl/notes.example.key": folder / "key",
            "proxy_pass http://127.0.0.1:8501": "proxy_pass http://glossa",  # as the page says
            "server 127.0.0.1:8501": f"server 127.0.0.1:{servers[0].port}",
            "server 127.0.0.1:8502": f"server 127.0.0.1:{servers[1].port}",
        },
    )
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder / kind};\n" for kind in kinds)
    # Started by root, nginx would work as an account that may not write into our folder.
    user = "user root;\n" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{user}pid {folder / 'pid'};\ndaemon off;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{places}{config}}}\n"
    )
    return ["nginx", "-p", folder, "-e", folder / "nginx.log", "-c", folder / "nginx.conf"]


def caddy_command(folder: Path, port: int, servers: list[Server]) -> list[object]:
    [config] = [block for block in blocks("text") if "lb_policy cookie" in block]
    inner = (
        f"notes.example:{port} {{\n    bind 127.0.0.1\n    tls {folder / 'pem'} {folder / 'key'}"
    )
    config = changed(
        config,
        {
            "notes.example {": inner,
            "127.0.0.1:8501 127.0.0.1:8502": " ".join(f"127.0.0.1:{s.port}" for s in servers),
        },
    )
    options = "admin off\nauto_https disable_redirects\ndefault_sni notes.example\n"
    (folder / "Caddyfile").write_text(f"{{\n{options}storage file_system {folder}\n}}\n{config}")
    return ["caddy", "run", "--config", folder / "Caddyfile", "--adapter", "caddyfile"]


@pytest.fixture(scope="module", params=PROXIES)
def proxy(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def port(folder: Path, servers: list[Server], proxy: str) -> Iterator[int]:
    """The port of the running proxy."""
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    make += ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
    subprocess.run(
        [*make, "-keyout", folder / "key", "-out", folder / "pem"], check=True, capture_output=True
    )
    port = free_port()
    command = {"nginx": nginx_command, "caddy": caddy_command}[proxy](folder, port, servers)
    with open(folder / f"{proxy}.log", "ab") as log:
        process = subprocess.Popen(
            command, env={**os.environ, "HOME": str(folder)}, stdout=log, stderr=log
        )
    try:
        wait_until(lambda: is_healthy(process, log.name, port), f"{proxy} answers", every=0.2)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=60)


def is_healthy(process: subprocess.Popen, log: str, port: int) -> bool:
    assert process.poll() is None, Path(log).read_text()
    try:
        return ask(port, "/_stcore/health", NAME) == 200
    except OSError:
        return False


def ask(port: int, path: str, host: str) -> int:
    """Return the status of the answer to a request for a host name."""
    own = ssl._create_unverified_context()
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=LIMIT, context=own)
    try:
        connection.request("GET", path, headers={"Host": f"{host}:{port}"})
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.fixture(scope="module")
def address(port: int) -> str:
    return f"https://{NAME}:{port}"


@pytest.fixture(scope="module")
def page(browser, address, faults) -> Iterator[Page]:
    """A tab of a browser that finds the proxy under its name."""
    rules = [*BROWSER_OPTIONS, f"--host-resolver-rules=MAP {NAME} 127.0.0.1"]
    own = browser.browser_type.launch(executable_path=browser_path(), args=rules)
    context = own.new_context(viewport={"width": 1440, "height": 1200}, ignore_https_errors=True)
    context.set_default_timeout(LIMIT_MS)
    page = context.new_page()
    page.goto(address)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    watch(page, address, faults)
    yield page
    own.close()


def test_the_password_opens_the_pages_over_the_websocket(page, address):
    see_page(page, HOME)
    [cookie] = [c for c in page.context.cookies() if c["name"] == "glossa_session"]
    assert cookie["secure"] and cookie["httpOnly"]
    for _ in range(3):  # another server would ask for the password
        page.reload()
        see_page(page, HOME)


def test_a_large_file_is_uploaded(page, tmp_path):
    page.get_by_role("textbox", name="Name of the new project").fill("Proxy")
    press(page, "Create project")
    see_page(page, "Text")
    file = tmp_path / "notes.txt"
    file.write_text("Aspirin relieves pain.\n" * 100_000)  # nginx refuses 1 MB unless it is told
    upload(page, "Add text files", file)
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    expect(figure(page, "Documents")).to_have_text("1")


def test_the_name_that_was_asked_for_reaches_the_server(port, proxy):
    assert ask(port, "/", NAME) == 401  # the form
    if proxy == "nginx":  # Caddy itself has nothing under other names
        assert ask(port, "/", "evil.example") == 403


def test_no_server_logged_a_fault(servers):
    assert [server.faults() for server in servers] == ["", ""]
