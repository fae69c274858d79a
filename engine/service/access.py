"""Decide who may use the service: where it listens, which token it asks for, how much it reads.

As in the app, nothing but this machine is let in without a secret, unless someone says so.
"""

import hashlib
import hmac
import json
import os
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from ipaddress import ip_address
from typing import Any

from engine.text import InputError

TOKEN_VARIABLE = "GLOSSA_TOKEN"
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
_SHORTEST_TOKEN = 8
_PASSED_OVER = 1_000_000_000  # bytes of a refused request that are read and dropped

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def service_token() -> str:
    """Return the token that requests must bring; "" if the variable is not set."""
    token = os.environ.get(TOKEN_VARIABLE)
    if token is None:
        return ""
    if len(token) < _SHORTEST_TOKEN:
        raise InputError(f"{TOKEN_VARIABLE} needs at least {_SHORTEST_TOKEN} characters")
    return token


def check_address(address: str, names: Iterable[str], token: str, *, is_open: bool) -> None:
    """Raise InputError if people elsewhere could use the service without a token."""
    away = [name for name in (address, *names) if not _is_this_machine(name)]
    if away and not token and not is_open:
        raise InputError(
            f"at {away[0] or 'every address'} others could use the tagger without a token. Set "
            f"{TOKEN_VARIABLE}, or add --open to allow it (see docs/operate.md)"
        )


def _is_this_machine(address: str) -> bool:
    try:
        return address == "localhost" or ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False


class Gate:
    """ASGI middleware: checks host name, token and size before the service reads a request."""

    def __init__(self, app: App, hosts: frozenset[str], token: str, most_bytes: int) -> None:
        self._app, self._hosts, self._token, self._most = app, hosts, token, most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        refusal = self._refusal(scope["path"], headers)
        body = b""
        if refusal is None:
            body, is_whole = await _read(receive, self._most)
            refusal = None if is_whole else (413, self._too_large())
        if refusal is not None:
            if refusal[0] == 413:
                # Many clients send all of it before they look at the answer.
                await _read(receive, _PASSED_OVER, is_kept=False)
            await _answer(send, *refusal)
            return
        is_given = False

        async def given() -> Message:
            nonlocal is_given
            if is_given:
                return await receive()  # waits until the client goes away
            is_given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, given, send)

    def _refusal(self, path: str, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        host = _host_name(headers.get(b"host", b"").decode("latin-1"))
        if host not in self._hosts:
            return 403, (
                "This service does not answer to this host name. Whoever started it can allow the "
                "name: glossa serve --host-name NAME."
            )
        if path != "/health" and not self._is_allowed(headers.get(b"authorization", b"")):
            return 401, "This service needs its token: Authorization: Bearer TOKEN."
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and (len(length) > 15 or int(length) > self._most):
            return 413, self._too_large()
        return None

    def _is_allowed(self, given: bytes) -> bool:
        if not self._token:
            return True
        kind, _, token = given.partition(b" ")
        # Digests have one length, so that the time it takes tells nothing about the token.
        digests = (hashlib.sha256(t).digest() for t in (token.strip(), self._token.encode()))
        return kind.lower() == b"bearer" and hmac.compare_digest(*digests)

    def _too_large(self) -> str:
        return (
            f"A request may hold {self._most / 1e6:,.0f} MB. Send the texts in several requests, "
            "or use glossa predict for large files."
        )


def _host_name(host: str) -> str:
    """Return the name in a Host header without its port.

    >>> [_host_name(host) for host in ("LOCALHOST:80", "[::1]:80", "::1", "a.example")]
    ['localhost', '::1', '::1', 'a.example']
    """
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return (host if host.count(":") > 1 else host.partition(":")[0]).lower().rstrip(".")


async def _read(receive: Receive, most: int, *, is_kept: bool = True) -> tuple[bytes, bool]:
    """Return the body of a request, and whether it is whole: reading stops at the limit."""
    blocks, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"", True  # the client went away
        block = message.get("body", b"")
        size += len(block)
        if is_kept:
            blocks.append(block)
        if size > most:
            return b"", False
        if not message.get("more_body"):
            return b"".join(blocks), True


async def _answer(send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"detail": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
