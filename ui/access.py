"""Decide who may come in: host names, where the server may listen, and who has signed in.

Three ways to sign in: none (on this machine alone, or with `--open`), a shared password
(GLOSSA_PASSWORD), or a provider of OpenID Connect (the section [auth] of Streamlit's secrets).
"""

import hashlib
import hmac
import os
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from streamlit import config
from streamlit.runtime.secrets import secrets_singleton

from engine.text import InputError

NOBODY, PASSWORD, OIDC = "nobody", "password", "oidc"
COOKIE = "glossa_session"
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
SESSION_SECONDS = 12 * 3600
_SHORTEST_PASSWORD = 8
_FREE_FAILURES = 3  # typing errors, before the first wait
_LONGEST_WAIT = 30.0  # seconds
_FORGET_SECONDS = 15 * 60
_MOST_PER_MINUTE = 120  # wrong passwords of all clients together


# ---- host names -----------------------------------------------------------------------------


def allowed_hosts(address: str, named: Iterable[str] = ()) -> frozenset[str]:
    """Return the names that a request may call this server by.

    They are those of this machine, the address where it listens, GLOSSA_HOSTS and `named`.

    >>> sorted(allowed_hosts("10.0.0.7", ["Notes.example:8501"]) - set(THIS_MACHINE))
    ['10.0.0.7', 'notes.example']
    """
    given = [*os.environ.get("GLOSSA_HOSTS", "").split(","), *named]
    names = {name: host_name(name.strip()) for name in given if name.strip()}
    for name, host in names.items():
        if not host or "*" in host:
            raise InputError(
                f'"{name[:80]}" is no host name. Write names as in notes.example or 10.0.0.7'
            )
    return frozenset({*THIS_MACHINE, address.strip("[]").lower(), *names.values()})


def host_name(host: str) -> str:
    """Return the name in a Host header, without its port; "" when the header is malformed.

    >>> host_name("LOCALHOST.:8501"), host_name("[::1]:8501"), host_name("a@b"), host_name("")
    ('localhost', '::1', '', '')
    """
    try:
        parts = urlsplit(f"//{f'[{host}]' if host.count(':') > 1 and host[0] != '[' else host}")
        name, _ = parts.hostname or "", parts.port  # a malformed port raises ValueError
    except ValueError:
        return ""
    is_bare = parts.netloc and not (parts.username or parts.password or parts.path)
    is_bare = is_bare and not (parts.query or parts.fragment or "@" in host)
    return name.rstrip(".") if is_bare else ""


# ---- where the server listens ---------------------------------------------------------------


def check_start(address: str, hosts: Iterable[str], *, is_open: bool) -> None:
    """Raise InputError if the server would let in people from elsewhere without a sign-in.

    A host name of elsewhere counts as well: a proxy passes on what others ask for by that name.
    """
    if is_open or sign_in() != NOBODY:
        return
    if away := [name for name in (address, *sorted(hosts)) if not is_this_machine(name)]:
        raise InputError(
            f"at {away[0] or 'every address'} others could read and delete all projects without "
            "signing in. Set GLOSSA_PASSWORD, or add --open to allow it (see docs/operate.md)"
        )


def is_this_machine(address: str) -> bool:
    """Return whether only this machine can reach the address.

    >>> [is_this_machine(a) for a in ("localhost", "127.0.0.2", "::1", "0.0.0.0", "", "my-host")]
    [True, True, True, False, False, False]
    """
    try:
        return address == "localhost" or ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False


# ---- signing in -----------------------------------------------------------------------------


_decided: str | None = None


def decide_sign_in() -> str:
    """Settle how people sign in until the server ends, so that no damaged file opens the door."""
    global _decided
    _decided = sign_in()
    return _decided


def sign_in() -> str:
    """Return how people sign in here: NOBODY has to, with a shared PASSWORD, or by OIDC."""
    if _decided is not None:
        return _decided
    password, is_oidc = os.environ.get("GLOSSA_PASSWORD"), _has_provider()
    if password is not None and is_oidc:
        raise InputError(
            "there are two ways to sign in, GLOSSA_PASSWORD and the section [auth] of "
            "secrets.toml. Remove one of them"
        )
    if password is None:
        return OIDC if is_oidc else NOBODY
    if len(password) < _SHORTEST_PASSWORD:
        raise InputError(f"GLOSSA_PASSWORD needs at least {_SHORTEST_PASSWORD} characters")
    return PASSWORD


def _has_provider() -> bool:
    files = [path for path in config.get_option("secrets.files") if os.path.exists(path)]
    if files and not secrets_singleton.load_if_toml_exists():
        raise InputError(f"{files[-1]} cannot be read. Correct it, or remove it")
    return bool(files) and "auth" in secrets_singleton


def providers() -> list[str]:
    """Return the names of the providers of OpenID Connect; "" is the only one, without a name."""
    section = secrets_singleton["auth"]
    named = [name for name, value in section.items() if isinstance(value, Mapping)]
    return (
        [name for name in named if name != "client_kwargs"] if "client_id" not in section else [""]
    )


def may_sign_in(address: str) -> bool:
    """Return whether GLOSSA_USERS names this address or its host (*@lab.example); all if unset."""
    named = os.environ.get("GLOSSA_USERS", "").lower().split(",")
    users = {user.strip() for user in named} - {""}
    return not users or address in users or f"*@{address.rpartition('@')[2]}" in users


def is_password(given: str) -> bool:
    """Return whether this is the shared password; the time it takes tells nothing about it."""
    password = os.environ.get("GLOSSA_PASSWORD", "")
    # Digests have one length, so that not even the password's length can be timed.
    is_right = hmac.compare_digest(_digest(password), _digest(given))
    return is_right and len(password) >= _SHORTEST_PASSWORD


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class Sessions:
    """The browsers that gave the password; a restart of the server forgets them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end_by_token: dict[str, float] = {}

    def begin(self) -> str:
        """Return the token of a new session, for its cookie."""
        now = self._clock()
        self._end_by_token = {t: end for t, end in self._end_by_token.items() if end > now}
        token = secrets.token_urlsafe(32)
        self._end_by_token[token] = now + SESSION_SECONDS
        return token

    def holds(self, token: str | None) -> bool:
        """Return whether this is the token of a session that has not ended."""
        return self._end_by_token.get(token or "", 0.0) > self._clock()

    def end(self, token: str | None) -> None:
        """End a session: its token opens nothing from now on."""
        self._end_by_token.pop(token or "", None)


class Attempts:
    """Wrong passwords, and how long a client has to wait before it may try again.

    The wait doubles with each failure of one client. All clients together have a limit per minute.
    Every wait ends: nobody is locked out for good.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[str, tuple[int, float]] = {}  # by client: how many, and the last
        self._recent: list[float] = []  # of all clients, in the last minute

    def wait(self, client: str) -> float:
        """Return the seconds until this client may try a password; 0 when it may now."""
        now = self._clock()
        count, last = self._failures.get(client, (0, 0.0))
        own = 0.0
        if count > _FREE_FAILURES:
            own = last + min(_LONGEST_WAIT, 2.0 ** (count - _FREE_FAILURES)) - now
        self._recent = [moment for moment in self._recent if moment > now - 60]
        is_full = len(self._recent) >= _MOST_PER_MINUTE
        return max(0.0, own, self._recent[0] + 60 - now if is_full else 0.0)

    def fail(self, client: str) -> None:
        """Count a wrong password."""
        now = self._clock()
        fresh = {c: (n, at) for c, (n, at) in self._failures.items() if at > now - _FORGET_SECONDS}
        fresh[client] = (fresh.get(client, (0, 0.0))[0] + 1, now)
        self._failures = fresh
        self._recent.append(now)

    def succeed(self, client: str) -> None:
        """Forget the failures of a client that knew the password."""
        self._failures.pop(client, None)


SESSIONS = Sessions()
