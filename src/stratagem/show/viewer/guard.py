"""Guard of the pages: who may ask, and what a page may do.

A page that a browser has open elsewhere must not read records or start anything: neither by a request to this address,
nor by a name of its own that leads here (DNS rebinding). Texts of models must not run, so a page loads nothing but its
own files. Whoever asks has a link, and its role decides what is answered.
"""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stratagem.show.viewer.links import TABLE_LINKS, Link, Links
from stratagem.show.viewer.routes import ACTIONS, roles_of
from stratagem.show.web.guard import SECURITY_HEADERS, bearer_of, is_own_name, is_own_request, is_same_origin

COOKIE = "stratagem_view"
"""Beginning of the name of a cookie; the port follows, and the id of a link of a table."""
_SECONDS = 4 * 3600
"""Time that a browser keeps the cookie of a table, even if it is closed: a seat's link lets nobody in twice."""
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


class LinkRequest(NamedTuple):
    """Link that a request is made by, and what it asks for."""

    link: Link | None
    """None where there is no such link."""
    path: str
    """Path without that of the link."""


class Guard:
    """Application behind the checks of host, origin, link and role."""

    def __init__(self, inner: ASGIApp, host: str, token: str, links: Links) -> None:
        """`token` is that of the operator; empty lets every user and program of this machine be it."""
        self._inner = inner
        self._host = host
        self._needs_token = bool(token)
        self._operator = Link("operator", token=token)
        self._links = links

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it; the application finds its link in the scope."""
        if scope["type"] != "http":
            return
        asked = self._read(scope["path"])
        refused = self._refuse(asked, scope, Headers(scope=scope))

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("content-security-policy", POLICY)
                headers.setdefault("cache-control", "no-store")
                headers.update(SECURITY_HEADERS)
            await send(message)

        await (refused or self._inner)({**scope, "path": asked.path, "link": asked.link}, receive, guarded)

    def _read(self, path: str) -> LinkRequest:
        if not path.startswith(TABLE_LINKS):
            return LinkRequest(self._operator, path)
        name, _, rest = path.removeprefix(TABLE_LINKS).partition("/")
        return LinkRequest(self._links.find(name), f"/{rest}")

    def _refuse(self, asked: LinkRequest, scope: Scope, headers: Headers) -> Response | None:
        acts = scope["method"] == "POST" and asked.path.startswith(ACTIONS)
        if not acts and scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("The pages are only read.", 405)
        if not is_own_name(headers, self._host):
            return PlainTextResponse("This address has another name.", 421)
        if not is_same_origin(headers):
            return PlainTextResponse("Pages of other origins may not ask.", 403)
        if acts and not is_own_request(headers):
            return PlainTextResponse("Only the pages themselves may do something.", 403)
        return self._ask_secret(asked, scope, headers)

    def _ask_secret(self, asked: LinkRequest, scope: Scope, headers: Headers) -> Response | None:
        """Let in who has the secret of the link, as far as its role goes."""
        link = asked.link
        if link is None:
            return _refuse_unknown()
        if link is self._operator and (not self._needs_token or link.opens(bearer_of(headers))):
            return None
        if not link.knows(_cookie(headers, cookie_name(scope, link))):
            return _exchange(link, scope)
        if link.role not in roles_of(asked.path):
            return PlainTextResponse("This link does not open that.", 403)
        return None


def cookie_name(scope: Scope, link: Link) -> str:
    """Return the name of a cookie: browsers send cookies to all ports of a machine, so each viewer has its own."""
    server = scope.get("server")
    port = f"_{server[1]}" if server else ""
    return f"{COOKIE}{port}_{link.id}" if link.id else f"{COOKIE}{port}"


def _exchange(link: Link, scope: Scope) -> Response:
    """Take the token of an address for a cookie; the link of a seat is then used, whoever else knows it."""
    query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    if scope["method"] != "GET" or not link.opens(dict(query).get("token", "")):
        return _refuse_unknown()
    link.is_used = True
    rest = urlencode([(name, value) for name, value in query if name != "token"])
    response = RedirectResponse(f"{link.path}?{rest}" if rest else link.path, 303)
    name, is_guest = cookie_name(scope, link), bool(link.id)
    response.set_cookie(
        name,
        link.session,
        max_age=_SECONDS if is_guest else None,
        path=link.path,
        httponly=True,
        samesite="lax" if is_guest else "strict",  # a link in a message is opened from another site
    )
    return response


def _refuse_unknown() -> Response:
    return PlainTextResponse(
        "Open the address with the token that `stratagem view` printed, or ask for a link to the table: that of a seat "
        "lets in one browser, until the game has ended or the seat was left.",
        401,
    )


def _cookie(headers: Headers, name: str) -> str:
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return morsel.value if morsel else ""
