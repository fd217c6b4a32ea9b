"""Guard of the pages: who may ask, and what a page may do.

A page that a browser has open elsewhere must not read records or start anything: neither by a request to this address,
nor by a name of its own that leads here (DNS rebinding). Texts of models must not run, so a page loads nothing but its
own files.
"""

from __future__ import annotations

import hmac
import secrets
import socket
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stratagem.hosts import Host, is_loopback, read_host

COOKIE = "stratagem_view"
"""Beginning of the name of the cookie; the port follows."""
ACTIONS = "/api/do/"
"""Beginning of the paths that do something; nothing else but reading is possible."""
KIND = "application/json"
"""Type of their data."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
"""Content-security policy of the pages: no script but their own files, and no HTML from a text."""
SANDBOX = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Policy of a report or a card, which is a file from anybody: its scripts have no origin and no network."""
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}


class Guard:
    """Application behind the checks of host, origin and token."""

    def __init__(self, inner: ASGIApp, host: str, token: str) -> None:
        """`token` is what a browser must know; empty lets every user and program of this machine in.

        A cookie has a secret of its own, so that who reads it has not the token of the address.
        """
        self._inner = inner
        self._host = host
        self._token = token
        self._session = secrets.token_urlsafe(24)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return
        refused = self._refuse(scope, Headers(scope=scope))

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("content-security-policy", POLICY)
                headers.setdefault("cache-control", "no-store")
                headers.update(_HEADERS)
            await send(message)

        await (refused or self._inner)(scope, receive, guarded)

    def _refuse(self, scope: Scope, headers: Headers) -> Response | None:
        acts = scope["method"] == "POST" and scope["path"].startswith(ACTIONS)
        if not acts and scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("The pages are only read.", 405)
        host = read_host(headers.get("host", ""))
        if host is None or not self._is_own(host):
            return PlainTextResponse("This address has another name.", 421)
        if not _is_same_origin(headers):
            return PlainTextResponse("Pages of other origins may not ask.", 403)
        if acts and not _is_own_request(headers):
            return PlainTextResponse("Only the pages themselves may do something.", 403)
        return self._ask_token(scope, headers) if self._token else None

    def _is_own(self, host: Host) -> bool:
        """Return whether a request means this server: a foreign name that leads here does not."""
        name = host.name.casefold()
        if is_loopback(Host(name)) or name == self._host.casefold():
            return True
        if not _is_wildcard(self._host):
            return False
        return _is_number(name) or name in (socket.gethostname().casefold(), socket.getfqdn().casefold())

    def _ask_token(self, scope: Scope, headers: Headers) -> Response | None:
        """Let in who has the token; the address that was printed leaves it in a cookie."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given, name = dict(query).get("token", ""), cookie_name(scope)
        if _is_secret(_cookie(headers, name), self._session):
            return None
        if _is_secret(headers.get("authorization", "").removeprefix("Bearer "), self._token):
            return None
        if not _is_secret(given, self._token):
            return PlainTextResponse("Open the address with the token that `stratagem view` printed.", 401)
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        response = RedirectResponse(f"/?{rest}" if rest else "/", 303)
        response.set_cookie(name, self._session, httponly=True, samesite="strict")
        return response


def cookie_name(scope: Scope) -> str:
    """Return the name of the cookie: browsers send cookies to all ports of a machine, so each viewer has its own."""
    server = scope.get("server")
    return f"{COOKIE}_{server[1]}" if server else COOKIE


def _is_secret(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())


def _is_same_origin(headers: Headers) -> bool:
    """Return whether no foreign page asks; a person may follow a link to the first page."""
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2] != headers.get("host"):
        return False
    if headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
        return True
    return headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"


def _is_own_request(headers: Headers) -> bool:
    """Return whether a page of this origin sends data that no form of another page could send."""
    kind = headers.get("content-type", "").partition(";")[0].strip().casefold()
    return "origin" in headers and headers.get("sec-fetch-site", "same-origin") == "same-origin" and kind == KIND


def _cookie(headers: Headers, name: str) -> str:
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


def _is_wildcard(host: str) -> bool:
    return _is_number(host) and ip_address(host).is_unspecified


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
