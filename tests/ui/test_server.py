"""Requests to the real server: hosts that are refused, the password, and what needs neither."""

import base64
import http.client
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

import pytest
import streamlit
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from tests.browser.server import ROOT, Server, free_port
from tests.support.waiting import LIMIT

PASSWORD = "correct horse"
SECRET = "a cookie secret of the tests, long enough"
ENDPOINTS = ["/", "/text?project=sample", "/_stcore/health", "/_stcore/host-config", "/media/x.csv"]
ENDPOINTS += ["/_stcore/upload_file/s/f", "/static/js/x.js", "/component/x", "/auth/login", "/none"]


def start(folder, *options, **environment):
    """Start a server; outside lookups would go to `server.outside`, a socket that only listens."""
    outside = socket.create_server(("127.0.0.1", 0))
    proxy = f"http://127.0.0.1:{outside.getsockname()[1]}"
    proxies = {f"{kind}_proxy": proxy for kind in ("http", "https", "HTTP", "HTTPS")}
    (folder / "home").mkdir()
    home = str(folder / "home")
    server = Server(
        folder / "data", folder / "log", *options, **proxies, **{"HOME": home, **environment}
    )
    server.outside = outside
    return server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = start(tmp_path_factory.mktemp("plain"), "--host-name", "a.example", "--open",
                   GLOSSA_HOSTS="b.example")  # fmt: skip
    server.start()
    yield server
    server.stop()
    server.outside.close()


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    server = start(tmp_path_factory.mktemp("locked"), GLOSSA_PASSWORD=PASSWORD)
    server.start()
    yield server
    server.stop()
    server.outside.close()


def ask(server, path, method="GET", body=None, **headers):
    """Return the answer to a request; a header is named with _ for -."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=LIMIT)
    connection.request(
        method, path, body, {name.replace("_", "-"): value for name, value in headers.items()}
    )
    answer = connection.getresponse()
    answer.text = answer.read().decode()
    connection.close()
    return answer


def open_websocket(server, **headers):
    """Return the connected socket, and the status of the answer to the handshake."""
    lines = {
        "Host": f"localhost:{server.port}",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        **headers,
    }
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT)
    text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    connection.sendall(f"GET /_stcore/stream HTTP/1.1\r\n{text}\r\n".encode())
    return connection, int(connection.recv(4096).split()[1])


def handshake(server, **headers):
    connection, status = open_websocket(server, **headers)
    connection.close()
    return status


# ---- host names -----------------------------------------------------------------------------


@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize("method", ["GET", "PUT", "OPTIONS", "DELETE"])
def test_a_strange_host_is_refused_everywhere(server, path, method):
    answer = ask(server, path, method, Host=f"evil.example:{server.port}")
    assert answer.status == 403
    assert re.fullmatch(r"Glossa does not answer to this host name\. .*\.\n", answer.text)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "a.example", "B.example."])
def test_known_hosts_are_answered(server, host):
    assert ask(server, "/", Host=f"{host}:{server.port}").status == 200
    origin = {"Host": f"{host}:{server.port}", "Origin": f"http://{host}:{server.port}"}
    assert handshake(server, **origin) == 101


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "10.1.2.3", "0.0.0.0"])
def test_the_websocket_refuses_a_strange_host_with_its_own_origin(server, host):
    name = f"{host}:{server.port}"
    assert handshake(server, Host=name, Origin=f"http://{name}") == 403


def test_a_request_without_a_host_is_refused(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert b" 403 " in connection.recv(4096).split(b"\r\n")[0]


def test_a_refused_origin_makes_the_server_look_up_nothing_outside(server):
    assert handshake(server, Origin="http://evil.example") == 403
    server.outside.setblocking(False)
    with pytest.raises(BlockingIOError):  # the lookup would come before the answer
        server.outside.accept()


# ---- where it listens -----------------------------------------------------------------------


def refusal(*options, **environment):
    command = [sys.executable, "-m", "engine", "app", "--headless", "--port", str(free_port())]
    done = subprocess.run(
        [*command, *options], cwd=ROOT, env={**os.environ, **environment}, capture_output=True,
        text=True, timeout=LIMIT,
    )  # fmt: skip
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    return line


@pytest.mark.parametrize("address", ["0.0.0.0", "::"])
def test_the_app_refuses_to_serve_others_without_a_sign_in(address, tmp_path):
    data = {"GLOSSA_DATA": str(tmp_path / "data"), "HOME": str(tmp_path)}
    line = refusal("--address", address, **data)
    assert line.startswith("glossa app: at ") and line.endswith("(see docs/operate.md).")


def test_secrets_that_cannot_be_read_keep_the_app_from_starting(tmp_path):
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "secrets.toml").write_text("[auth\n")
    line = refusal(HOME=str(tmp_path), GLOSSA_DATA=str(tmp_path / "data"))
    assert "secrets.toml cannot be read" in line


# ---- the password ---------------------------------------------------------------------------


def sign_in(server, password, client, path="/", **headers):
    """Send the form; the server believes a proxy on this machine about the client's address."""
    return ask(
        server, path, "POST", urlencode({"password": password}),
        **{"Content_Type": "application/x-www-form-urlencoded", "X_Forwarded_For": client},
        **headers,
    )  # fmt: skip


def cookie_of(answer):
    return answer.getheader("Set-Cookie").split(";")[0]


@pytest.mark.parametrize("path", ["/", "/text?project=sample", "/none"])
def test_every_page_asks_for_the_password(locked, path):
    answer = ask(locked, path)
    assert answer.status == 401
    assert '<input id="password" name="password" type="password"' in answer.text
    assert "sample" not in answer.text


@pytest.mark.parametrize("path", ENDPOINTS[3:9])
@pytest.mark.parametrize("method", ["GET", "PUT", "POST"])
def test_nothing_else_answers_without_the_password(locked, path, method):
    answer = ask(locked, path, method)
    assert (answer.status, answer.text) == (401, "Sign in first.\n")


def test_the_websocket_needs_the_password(locked):
    assert handshake(locked) == 401
    assert handshake(locked, Cookie="glossa_session=x") == 401


def test_the_health_check_needs_no_password(locked):
    assert ask(locked, "/_stcore/health").status == 200


def test_the_password_opens_the_app_until_signing_out(locked):
    answer = sign_in(locked, PASSWORD, "192.0.2.1", "/text?project=sample")
    assert (answer.status, answer.getheader("Location")) == (303, "?project=sample")
    assert re.search("HttpOnly.*SameSite=lax", answer.getheader("Set-Cookie"))
    assert "secure" not in answer.getheader("Set-Cookie").lower()
    cookie = cookie_of(answer)
    assert ask(locked, "/", Cookie=cookie).status == 200
    assert ask(locked, "/media/x.csv", Cookie=cookie).status == 404
    connection, status = open_websocket(locked, Cookie=cookie)
    assert status == 101
    assert ask(locked, "/sign-out", Cookie=cookie).status == 303
    assert ask(locked, "/", Cookie=cookie).status == 401
    with connection:  # an open page ends with its next message
        connection.sendall(b"\x82\x80\0\0\0\0")
        while connection.recv(4096):
            pass


def test_over_https_the_cookie_is_secure(locked):
    answer = sign_in(locked, PASSWORD, "192.0.2.2", X_Forwarded_Proto="https")
    assert "secure" in answer.getheader("Set-Cookie").lower()


def test_wrong_passwords_are_slowed_down(locked):
    for _ in range(4):
        answer = sign_in(locked, "wrong horse", "192.0.2.3")
        assert answer.status == 401 and "This is not the password." in answer.text
        assert answer.getheader("Set-Cookie") is None
    answer = sign_in(locked, PASSWORD, "192.0.2.3")
    assert answer.status == 429 and int(answer.getheader("Retry-After")) <= 2
    assert sign_in(locked, PASSWORD, "192.0.2.4").status == 303


def test_a_form_of_another_site_is_refused(locked):
    answer = sign_in(locked, PASSWORD, "192.0.2.5", Origin="http://evil.example")
    assert answer.status == 403


def test_a_huge_form_is_not_read(locked):
    assert sign_in(locked, PASSWORD + "x" * 100_000, "192.0.2.6").status == 401


def test_the_host_is_checked_before_the_password(locked):
    assert ask(locked, "/", Host="evil.example").status == 403


# ---- OpenID Connect -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def oidc(tmp_path_factory):
    server = start(tmp_path_factory.mktemp("oidc"))
    folder = server.data.parent / "home" / ".streamlit"
    folder.mkdir()
    (folder / "secrets.toml").write_text(
        f'[auth]\nredirect_uri = "http://localhost:{server.port}/oauth2callback"\n'
        f'cookie_secret = "{SECRET}"\nclient_id = "x"\nclient_secret = "x"\n'
        'server_metadata_url = "http://127.0.0.1:9/none"\n'
    )
    server.start()
    yield server
    server.stop()
    server.outside.close()


@pytest.mark.parametrize("path", ["/media/x.csv", "/_stcore/upload_file/s/f"])
def test_files_need_a_sign_in_with_openid_connect(oidc, path):
    assert ask(oidc, "/").status == 200
    assert ask(oidc, path, "PUT").status == 401
    for secret, is_in, status in (("x" * 40, True, 401), (SECRET, False, 401), (SECRET, True, 0)):
        content = json.dumps({"is_logged_in": is_in, "origin": f"http://localhost:{oidc.port}"})
        value = create_signed_value(secret, "_streamlit_user", content).decode()
        answer = ask(oidc, path, "PUT", Cookie=f"_streamlit_user={value}")
        assert answer.status == status or (status == 0 and answer.status != 401)


def test_the_page_that_asks_to_sign_in_has_its_fonts(oidc):
    folder = Path(streamlit.__file__).parent / "static" / "static" / "media"
    font = min(path.name for path in folder.iterdir() if path.suffix == ".woff2")
    assert ask(oidc, f"/static/media/{font}", "HEAD").status == 200
    assert ask(oidc, f"/media/static/media/{font}", "HEAD").status == 401


def test_signing_out_of_the_provider_ends_what_the_cookie_opened(oidc):
    content = {"is_logged_in": True, "email": "ann@example.org", "origin": "http://localhost"}
    value = create_signed_value(SECRET, "_streamlit_user", json.dumps(content)).decode()
    cookie = {"Cookie": f"_streamlit_user={value}"}
    connection, status = open_websocket(oidc, **cookie)
    assert status == 101 and ask(oidc, "/media/x.csv", **cookie).status == 404
    assert ask(oidc, "/auth/logout", **cookie).status == 302
    with connection:  # an open page ends with its next message
        connection.sendall(b"\x82\x80\0\0\0\0")
        while connection.recv(4096):
            pass
    assert handshake(oidc, **cookie) == 401
    assert ask(oidc, "/media/x.csv", **cookie).status == 401
    assert handshake(oidc) == 101  # as nobody, whom the pages ask to sign in
