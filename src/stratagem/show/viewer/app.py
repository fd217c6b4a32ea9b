"""Web application of the viewer: its files, and the table of pages as routes that answer in JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from stratagem.base.errors import StratagemError, UnknownName
from stratagem.games.base import Json
from stratagem.playing.store import shards
from stratagem.show.viewer.exporting.jobs import exported_file
from stratagem.show.viewer.faces.frames import stranger
from stratagem.show.viewer.files import files_of_pages, first_page
from stratagem.show.viewer.guard import SANDBOX, Guard
from stratagem.show.viewer.library import Library
from stratagem.show.viewer.routes import ACTIONS, ANSWERS, PAGES, Asked, PageRoute
from stratagem.show.viewer.sentences import sentence_of
from stratagem.show.viewer.studio import Studio, Visit
from stratagem.show.web.bodies import BadBody, PlainJSON, parse_object, read_body

PAUSE = 0.7
"""Seconds between two looks at the files."""
_FILES = ("metrics.jsonl", "status.json", "findings.json", "newest.json", "report.html", "view.json")


def changes(before: dict[str, object], after: dict[str, object]) -> list[str]:
    """Return the names whose state differs."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def state_of(library: Library) -> dict[str, object]:
    """Return by name what changes when a run or a record does."""
    state: dict[str, object] = {
        f"run:{name}": tuple(_stamp(run.path / file) for file in _FILES) for name, run in library.runs.items()
    }
    return state | {f"record:{name}": len(shards(folder)) for name, folder in library.records.items()}


async def events(read: Callable[[], Library], pause: float = PAUSE) -> AsyncIterator[bytes]:
    """Yield an event with the names of what has changed, until the reader leaves."""
    before = await run_in_threadpool(lambda: state_of(read()))
    yield b": open\n\n"
    while True:
        await asyncio.sleep(pause)
        after = await run_in_threadpool(lambda: state_of(read()))
        if changed := changes(before, after):
            before = after
            yield f"event: changed\ndata: {json.dumps(changed)}\n\n".encode()
        else:
            yield b": nothing new\n\n"  # a broken connection is noticed by writing


class EventStream(StreamingResponse):
    """Response of events that ends in order when the server is closed."""

    media_type = "text/event-stream"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the reader leaves or the server is closed, which cancels this."""
        try:
            await super().__call__(scope, receive, send)
        except asyncio.CancelledError:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


_KINDS = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}
_LONGEST_BODY = 200_000
"""Largest number of bytes of a request that does something."""


class Viewer:
    """Pages over one folder; they have no state of their own, but for jobs and games that go on."""

    def __init__(self, studio: Studio, host: str = "127.0.0.1", token: str = "") -> None:
        self._studio = studio
        self._host = host
        self._token = token
        self._files = {name: path for name, path in files_of_pages().items() if path.suffix in _KINDS}

    def application(self) -> Starlette:
        """Return the application behind its guard."""
        routes = [
            Route("/", self._first_page),
            *(Route(f"/static/{name}", self._file(name)) for name in self._files),
            *(route for page in PAGES.values() for route in self._routes(page)),
            Route("/api/live", self._live),
            Route("/faces/{name}", _answering(_face)),
            Route("/pages/{name:path}", _answering(self._page)),
            Route("/exports/{name}", _answering(_export)),
        ]
        guard = Middleware(Guard, host=self._host, token=self._token, links=self._studio.links)
        return Starlette(routes=routes, middleware=[guard], exception_handlers={HTTPException: _no_route})

    def _routes(self, page: PageRoute) -> Iterator[Route]:
        """Yield the routes of a page of the table."""
        for name, answer in page.answers.items():
            yield Route(f"{ANSWERS}{name}", self._reading(answer))
        for name, follow in page.follows.items():
            yield Route(f"{ANSWERS}{name}", self._following(follow))
        for name, act in page.actions.items():
            yield Route(f"{ACTIONS}{name}", self._acting(act), methods=["POST"])

    def _reading(self, answer: Callable[[Library, Asked], Json]) -> Callable[[Request], Response]:
        return _answering(lambda request: PlainJSON(answer(self._studio.read(), request.query_params)))

    def _following(self, follow: Callable[[Visit, Asked], Json]) -> Callable[[Request], Response]:
        return _answering(lambda request: PlainJSON(follow(self._visit(request), request.query_params)))

    def _acting(self, act: Callable[[Visit, Json], Json]) -> Callable[[Request], Awaitable[Response]]:
        async def acted(request: Request) -> Response:
            try:
                body = parse_object(await read_body(request, _LONGEST_BODY))
                return PlainJSON(await run_in_threadpool(act, self._visit(request), body))
            except StratagemError as error:
                return _error(error)

        return acted

    def _visit(self, request: Request) -> Visit:
        return Visit(self._studio, request.scope["link"])

    def _first_page(self, request: Request) -> Response:
        page = "index.html" if self._visit(request).link.role == "operator" else "guest.html"
        return Response(first_page(self._files, page), media_type="text/html")

    def _file(self, name: str) -> Callable[[Request], Response]:
        path = self._files[name]
        return lambda request: Response(path.read_bytes(), media_type=_KINDS[path.suffix])

    def _page(self, request: Request) -> Response:
        path = self._studio.read().page(request.path_params["name"])
        return Response(path.read_bytes(), media_type="text/html", headers={"content-security-policy": SANDBOX})

    async def _live(self, request: Request) -> Response:
        return EventStream(events(self._studio.read))


def _answering(answer: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """Turn an error into a sentence."""

    def answered(request: Request) -> Response:
        try:
            return answer(request)
        except StratagemError as error:
            return _error(error)

    return answered


def _face(request: Request) -> Response:
    return Response(stranger(request.path_params["name"]), media_type="text/javascript")


def _export(request: Request) -> Response:
    """Return a file to be saved; it is never shown as a page of this server."""
    file = exported_file(request.path_params["name"])
    headers = {"content-security-policy": SANDBOX, "content-disposition": f'attachment; filename="{file.name}"'}
    return Response(file.read_bytes(), media_type="text/html", headers=headers)


def _error(error: StratagemError) -> Response:
    status = 404 if isinstance(error, UnknownName) else error.status if isinstance(error, BadBody) else 400
    return PlainJSON({"error": sentence_of(error)}, status_code=status)


async def _no_route(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return PlainJSON({"error": "There is no such page."}, status_code=status)
