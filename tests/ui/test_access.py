"""Host names, where the server may listen, sessions, and waits after wrong passwords."""

import pytest

from engine.text.model import InputError
from ui import access


@pytest.fixture(autouse=True)
def plain(monkeypatch, tmp_path):
    """No password, no host names and no secrets from the machine that runs the tests."""
    for name in ("GLOSSA_PASSWORD", "GLOSSA_HOSTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(access, "_has_provider", lambda: False)


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("localhost", "localhost"),
        ("LocalHost:8501", "localhost"),
        ("localhost.", "localhost"),
        ("[::1]:8501", "::1"),
        ("evil.example@localhost", ""),
        ("localhost@evil.example", ""),
        ("localhost/evil", ""),
        ("localhost:port", ""),
        ("localhost evil", "localhost evil"),
        ("[::1", ""),
        ("", ""),
    ],
)
def test_the_name_in_a_host_header(header, name):
    assert access.host_name(header) == name


def test_hosts_are_named_by_the_user(monkeypatch):
    monkeypatch.setenv("GLOSSA_HOSTS", "a.example, B.example:443,")
    own = {"localhost", "127.0.0.1", "::1"}
    assert access.allowed_hosts("localhost", ["c.example"]) == own | {
        "a.example", "b.example", "c.example",
    }  # fmt: skip
    assert access.allowed_hosts("10.0.0.7") >= {"10.0.0.7"}


@pytest.mark.parametrize("name", ["*", "*.example", "http://a.example", "a@b"])
def test_what_is_no_host_name_is_refused(name):
    with pytest.raises(InputError, match="is no host name"):
        access.allowed_hosts("localhost", [name])


# ---- where the server listens ---------------------------------------------------------------


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "10.0.0.7", "my-host", ""])
def test_others_are_let_in_only_with_a_sign_in_or_when_told(address, monkeypatch):
    hosts = access.allowed_hosts("localhost")
    with pytest.raises(InputError, match="Set GLOSSA_PASSWORD, or add --open") as error:
        access.check_start(address, hosts, is_open=False)
    assert len(str(error.value)) < 300
    access.check_start(address, hosts, is_open=True)
    monkeypatch.setenv("GLOSSA_PASSWORD", "correct horse")
    access.check_start(address, hosts, is_open=False)


@pytest.mark.parametrize("address", ["localhost", "127.0.0.1", "127.8.8.8", "::1", "[::1]"])
def test_this_machine_needs_no_sign_in(address):
    access.check_start(address, access.allowed_hosts(address), is_open=False)


def test_a_host_name_of_elsewhere_needs_a_sign_in_too():
    hosts = access.allowed_hosts("localhost", ["notes.example"])
    with pytest.raises(InputError, match=r"at notes\.example others could read"):
        access.check_start("localhost", hosts, is_open=False)


# ---- ways to sign in ------------------------------------------------------------------------


def test_there_is_one_way_to_sign_in(monkeypatch):
    assert access.sign_in() == access.NOBODY
    monkeypatch.setattr(access, "_has_provider", lambda: True)
    assert access.sign_in() == access.OIDC
    monkeypatch.setenv("GLOSSA_PASSWORD", "correct horse")
    with pytest.raises(InputError, match="two ways to sign in"):
        access.sign_in()


@pytest.mark.parametrize("password", ["", "short"])
def test_a_short_password_is_no_protection(password, monkeypatch):
    monkeypatch.setenv("GLOSSA_PASSWORD", password)
    with pytest.raises(InputError, match="at least 8 characters"):
        access.sign_in()
    assert not access.is_password(password)


def test_the_way_to_sign_in_stays_once_decided(monkeypatch):
    monkeypatch.setattr(access, "_decided", None)  # and so again after the test
    monkeypatch.setenv("GLOSSA_PASSWORD", "correct horse")
    assert access.decide_sign_in() == access.PASSWORD
    monkeypatch.delenv("GLOSSA_PASSWORD")
    assert access.sign_in() == access.PASSWORD


def test_the_password_is_compared_whole(monkeypatch):
    monkeypatch.setenv("GLOSSA_PASSWORD", "größte Ülme")
    assert access.is_password("größte Ülme")
    for wrong in ("", "größte", "größte Ülme ", "GRÖSSTE ÜLME", "\udc80"):
        assert not access.is_password(wrong)


@pytest.mark.parametrize(
    ("users", "allowed"),
    [
        ("*@Lab.example, bob@public.example", ["ann@lab.example", "bob@public.example"]),
        ("", ["ann@lab.example", "bob@public.example", "eve@public.example"]),
        ("*@example", []),
        ("ann", []),
    ],
)
def test_the_operator_says_who_may_sign_in(users, allowed, monkeypatch):
    monkeypatch.setenv("GLOSSA_USERS", users)
    people = ("ann@lab.example", "bob@public.example", "eve@public.example")
    assert [person for person in people if access.may_sign_in(person)] == allowed


# ---- sessions and attempts ------------------------------------------------------------------


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def test_a_session_ends():
    clock = Clock()
    sessions = access.Sessions(clock)
    first, second = sessions.begin(), sessions.begin()
    assert first != second and sessions.holds(first) and sessions.holds(second)
    sessions.end(second)
    assert sessions.holds(first) and not sessions.holds(second)
    assert not sessions.holds(None) and not sessions.holds("") and not sessions.holds("x")
    clock.now += access.SESSION_SECONDS
    assert not sessions.holds(first)


def test_waits_grow_and_end():
    clock = Clock()
    attempts = access.Attempts(clock)
    waits = []
    for _ in range(12):
        attempts.fail("ann")
        waits.append(attempts.wait("ann"))
        clock.now += waits[-1]
    assert waits == [0, 0, 0, 2, 4, 8, 16, 30, 30, 30, 30, 30]
    assert attempts.wait("ann") == 0  # after the wait one may try again
    assert attempts.wait("bob") == 0


def test_failures_are_forgotten():
    clock = Clock()
    attempts = access.Attempts(clock)
    for _ in range(6):
        attempts.fail("ann")
    attempts.succeed("ann")
    attempts.fail("ann")
    assert attempts.wait("ann") == 0
    for _ in range(6):
        attempts.fail("bob")
    clock.now += 3600
    attempts.fail("bob")
    assert attempts.wait("bob") == 0


def test_many_clients_together_are_slowed_down():
    clock = Clock()
    attempts = access.Attempts(clock)
    for i in range(120):
        assert attempts.wait(f"client {i}") == 0
        attempts.fail(f"client {i}")
    assert attempts.wait("another") == 60
    clock.now += 60
    assert attempts.wait("another") == 0
