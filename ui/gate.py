"""Stand before the whole server (pages, websocket, uploads, media): check host and sign-in first.

A request for a host name that is not ours is refused. This stops DNS rebinding: a hostile page
whose name suddenly leads to this machine. With a shared password, nothing but the sign-in form and
the health check answers before the password was given. With OpenID Connect, Streamlit's own pages
ask people to sign in; uploads and media are refused here until they have, and signing out ends
every tab of the browser.
"""

import json
import math
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from streamlit import config
from streamlit.url_util import make_url_path
from streamlit.web.server.starlette import starlette_websocket
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from ui import access
from ui.parts.sign_in_form import form_page

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_HEALTH, _SIGN_OUT = "/_stcore/health", "/sign-out"
_NO_PAGES = ("/_stcore/", "/media/", "/static/", "/component/", "/auth/")  # parts of their paths
_PRIVATE = ("/_stcore/upload_file/", "/media/")
_FONTS = "static/media/"  # Streamlit's own, which the page that asks to sign in needs
_END_SIGN_IN = "/auth/logout"
_LARGEST_FORM = 4096  # bytes


class Gate:
    """ASGI middleware; its state is the failed attempts, and who signed out of a provider."""

    def __init__(self, app: App, hosts: frozenset[str], sign_in: str) -> None:
        self._app, self._hosts, self._sign_in = app, hosts, sign_in
        self._attempts = access.Attempts()
        self._signed_out: set[str] = set()  # cookies of the provider's users; none is used again

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        answer = self._refused_host(scope)
        if answer is None and self._sign_in == access.PASSWORD:
            answer = await self._ask_password(scope, receive)
        elif answer is None and self._sign_in == access.OIDC:
            answer = self._check_provider(scope)
        if answer is not None:
            await answer(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._app(scope, self._while_signed_in(scope, receive), send)
        else:
            await self._app(scope, receive, send)

    def _refused_host(self, scope: Scope) -> Response | None:
        given = Headers(scope=scope).getlist("host")
        name = access.host_name(given[0]) if len(given) == 1 else ""
        if name in self._hosts:
            return None
        return _refusal(
            403,
            "Glossa does not answer to this host name. Whoever started it can allow the name: "
            "glossa app --host-name NAME, or GLOSSA_HOSTS.",
        )

    async def _ask_password(self, scope: Scope, receive: Receive) -> Response | None:
        """Return the answer to a request without a session; None lets the request pass."""
        path, connection = scope["path"], HTTPConnection(scope)
        token = connection.cookies.get(access.COOKIE)
        if scope["type"] == "http" and path.endswith(_SIGN_OUT):
            access.SESSIONS.end(token)
            answer: Response = RedirectResponse(".", 303)
            answer.delete_cookie(access.COOKIE)
            return answer
        if access.SESSIONS.holds(token) or path.endswith(_HEALTH):
            return None
        if scope["type"] == "websocket" or any(part in path for part in _NO_PAGES):
            return _refusal(401, "Sign in first.")
        if scope["method"] == "POST":
            return await self._try_password(connection, receive)
        return _form(401)

    def _check_provider(self, scope: Scope) -> Response | None:
        """Refuse uploads and media without a sign-in, and the cookie of one that was ended."""
        cookies, path = HTTPConnection(scope).cookies, scope["path"]
        cookie = cookies.get(USER_COOKIE_NAME, "")
        if path.endswith(_END_SIGN_IN) and _is_users(cookies):
            self._signed_out.add(cookie)
            return None
        has_ended = cookie in self._signed_out
        is_file = _is_private(path) and scope.get("method") != "OPTIONS"
        if is_file or (has_ended and scope["type"] == "websocket"):
            return _refusal(401, "Sign in first.") if has_ended or not _is_users(cookies) else None
        return None

    def _while_signed_in(self, scope: Scope, receive: Receive) -> Receive:
        """Receive messages only during the sign-in, so that signing out ends open pages too."""
        cookies = HTTPConnection(scope).cookies

        def is_signed_in() -> bool:
            if self._sign_in == access.PASSWORD:
                return access.SESSIONS.holds(cookies.get(access.COOKIE))
            return cookies.get(USER_COOKIE_NAME) not in self._signed_out

        async def checked() -> Message:
            message = await receive()
            return message if is_signed_in() else {"type": "websocket.disconnect", "code": 1008}

        return checked

    async def _try_password(self, connection: HTTPConnection, receive: Receive) -> Response:
        origin = connection.headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != connection.headers["host"]:
            return _refusal(403, "The sign-in form of another site was refused.")
        client = connection.client.host if connection.client else ""
        given = parse_qs(await _body(receive)).get("password", [""])[0]
        # No await from here on, so that attempts cannot overtake the count of failures.
        if wait := self._attempts.wait(client):
            seconds = math.ceil(wait)
            answer = _form(429, f"Too many wrong passwords. Try again in {seconds} s.")
            answer.headers["Retry-After"] = str(seconds)
            return answer
        if not access.is_password(given):
            self._attempts.fail(client)
            return _form(401, "This is not the password.")
        self._attempts.succeed(client)
        # Relative, so that it stays at this address whatever a proxy puts before the path.
        welcome = RedirectResponse(f"?{connection.url.query}", 303)
        welcome.set_cookie(
            access.COOKIE,
            access.SESSIONS.begin(),
            httponly=True,
            samesite="lax",
            secure=connection.url.scheme == "https",
        )
        return welcome


def _is_private(path: str) -> bool:
    fonts = make_url_path(config.get_option("server.baseUrlPath"), _FONTS)
    return any(part in path for part in _PRIVATE) and not path.startswith(fonts)


def _is_users(cookies: dict[str, str]) -> bool:
    """Return whether the cookies are those of someone who signed in with OpenID Connect."""
    content = starlette_websocket._get_signed_cookie_with_chunks(cookies, USER_COOKIE_NAME)
    return content is not None and json.loads(content).get("is_logged_in") is True


def _refusal(status: int, sentence: str) -> Response:
    return PlainTextResponse(f"{sentence}\n", status)


def _form(status: int, problem: str = "") -> Response:
    headers = {
        "Cache-Control": "no-store",
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        "form-action 'self'; frame-ancestors 'none'",
    }
    return HTMLResponse(form_page(problem), status, headers)


async def _body(receive: Receive) -> str:
    """Return the form that was sent; "" if it is far longer than a password."""
    body, is_more = b"", True
    while is_more and len(body) <= _LARGEST_FORM:
        message = await receive()
        body += message.get("body", b"")
        is_more = message.get("more_body", False)
    return body.decode("utf-8", "replace") if len(body) <= _LARGEST_FORM else ""
