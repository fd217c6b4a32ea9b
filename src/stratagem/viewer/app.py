"""Web application of the viewer: its files, and the data of its pages as JSON."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from stratagem.errors import BadParameter, StratagemError, UnknownName
from stratagem.games.base import Json
from stratagem.viewer.actions import Actions
from stratagem.viewer.answers import content_of, episode, episodes, run_of, words, written
from stratagem.viewer.exporting.jobs import exported
from stratagem.viewer.faces.frames import stranger
from stratagem.viewer.files import files_of_pages
from stratagem.viewer.guard import ACTIONS, SANDBOX, Guard
from stratagem.viewer.inspecting import ANSWERS
from stratagem.viewer.library import Library, read_library
from stratagem.viewer.links import Link
from stratagem.viewer.live import EventStream, events
from stratagem.viewer.preloading import first_page
from stratagem.viewer.run_answers import RUN_ACTS, RUN_ANSWERS
from stratagem.viewer.sentences import sentence_of

_KINDS = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}
_LONGEST_BODY = 200_000
"""Largest number of bytes of a request that does something."""


class PlainJSON(JSONResponse):
    """Response with an answer of the pages."""

    def render(self, content: Any) -> bytes:
        """Encode the content."""
        return written(content).encode()


class Viewer:
    """Pages over one folder; they have no state of their own, but for jobs and games that go on."""

    def __init__(self, root: Path, host: str = "127.0.0.1", token: str = "", actions: Actions | None = None) -> None:
        self._root = root.resolve()
        self._host = host
        self._token = token
        self._actions = actions or Actions(self._root, {})
        self._files = {name: path for name, path in files_of_pages().items() if path.suffix in _KINDS}

    def application(self) -> Starlette:
        """Return the application behind its guard."""
        answers: dict[str, Callable[[Library, Mapping[str, str]], Json]] = {
            "library": content_of,
            "episodes": episodes,
            "episode": episode,
            "words": words,
            "run": run_of,
            **ANSWERS,
            **RUN_ANSWERS,
            **self._actions.gets(),
        }
        seats = self._actions.seats
        routes = [
            Route("/", self._first_page),
            *(Route(f"/static/{name}", self._file(name)) for name in self._files),
            *(Route(f"/api/{name}", self._reading(answer)) for name, answer in answers.items()),
            *(
                Route(f"{ACTIONS}{name}", self._doing(act), methods=["POST"])
                for name, act in {**self._actions.posts(), **RUN_ACTS}.items()
            ),
            *(Route(f"/api/{name}", _answering_link(answer)) for name, answer in seats.gets().items()),
            *(
                Route(f"{ACTIONS}{name}", _acting_for_link(act), methods=["POST"])
                for name, act in seats.posts().items()
            ),
            Route("/api/live", self._live),
            Route("/faces/{name}", _face),
            Route("/pages/{name:path}", self._page),
            Route("/exports/{name}", _export),
        ]
        guard = Middleware(Guard, host=self._host, token=self._token, links=self._actions.links)
        return Starlette(routes=routes, middleware=[guard], exception_handlers={HTTPException: _no_route})

    def _read(self) -> Library:
        return read_library(self._root)

    def _first_page(self, request: Request) -> Response:
        page = "index.html" if _link(request).role == "operator" else "guest.html"
        return Response(first_page(self._files, page), media_type="text/html")

    def _file(self, name: str) -> Callable[[Request], Response]:
        path = self._files[name]
        return lambda request: Response(path.read_bytes(), media_type=_KINDS[path.suffix])

    def _reading(self, answer: Callable[[Library, Mapping[str, str]], Json]) -> Callable[[Request], Response]:
        return _answering(lambda request: answer(self._read(), request.query_params))

    def _doing(self, act: Callable[[Library, Json], Json]) -> Callable[[Request], Awaitable[Response]]:
        return _acting(lambda request, body: act(self._read(), body))

    def _page(self, request: Request) -> Response:
        try:
            path = self._read().page(request.path_params["name"])
        except StratagemError as error:
            return _error(error)
        return Response(path.read_bytes(), media_type="text/html", headers={"content-security-policy": SANDBOX})

    async def _live(self, request: Request) -> Response:
        return EventStream(events(self._read))


def _link(request: Request) -> Link:
    """Return the link that the guard has let in."""
    link: Link = request.scope["link"]
    return link


def _answering(answer: Callable[[Request], Json]) -> Callable[[Request], Response]:
    def answered(request: Request) -> Response:
        try:
            return PlainJSON(answer(request))
        except StratagemError as error:
            return _error(error)

    return answered


def _answering_link(answer: Callable[[Link, Mapping[str, str]], Json]) -> Callable[[Request], Response]:
    return _answering(lambda request: answer(_link(request), request.query_params))


def _acting_for_link(act: Callable[[Link, Json], Json]) -> Callable[[Request], Awaitable[Response]]:
    return _acting(lambda request, body: act(_link(request), body))


def _acting(act: Callable[[Request, Json], Json]) -> Callable[[Request], Awaitable[Response]]:
    async def acted(request: Request) -> Response:
        try:
            body = await _body(request)
            return PlainJSON(await run_in_threadpool(act, request, body))
        except StratagemError as error:
            return _error(error)

    return acted


def _face(request: Request) -> Response:
    try:
        return Response(stranger(request.path_params["name"]), media_type="text/javascript")
    except StratagemError as error:
        return _error(error)


def _export(request: Request) -> Response:
    """Return a file to be saved; it is never shown as a page of this server."""
    try:
        file = exported(request.path_params["name"])
        headers = {"content-security-policy": SANDBOX, "content-disposition": f'attachment; filename="{file.name}"'}
        return Response(file.read_bytes(), media_type="text/html", headers=headers)
    except StratagemError as error:
        return _error(error)


async def _body(request: Request) -> Json:
    """Read the body of a request that does something, as far as it may be long."""
    data = b""
    async for piece in request.stream():
        data += piece
        if len(data) > _LONGEST_BODY:
            raise BadParameter(f"A request has at most {_LONGEST_BODY:,} bytes.")
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise BadParameter("The body of a request is a JSON object.")
    return body


def _error(error: StratagemError) -> Response:
    return PlainJSON({"error": sentence_of(error)}, status_code=404 if isinstance(error, UnknownName) else 400)


async def _no_route(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return PlainJSON({"error": "There is no such page."}, status_code=status)
