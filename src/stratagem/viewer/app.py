"""Web application of the viewer: its files, and the data of its pages as JSON."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
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
from stratagem.reports.page import MODULES, REPORTS
from stratagem.viewer.actions import Actions
from stratagem.viewer.faces.frames import stranger
from stratagem.viewer.guard import ACTIONS, SANDBOX, Guard
from stratagem.viewer.inspecting import ANSWERS
from stratagem.viewer.library import Library, read_library
from stratagem.viewer.listing import LONGEST_PAGE, Filter, find_row, listed, rows_of
from stratagem.viewer.live import EventStream, events
from stratagem.viewer.parameters import given, number
from stratagem.viewer.preloading import first_page
from stratagem.viewer.prompts import shaded
from stratagem.viewer.replays import load_episode, replay_of
from stratagem.viewer.run_answers import RUN_ACTS, RUN_ANSWERS
from stratagem.viewer.runs import run_page, run_row
from stratagem.viewer.words import words_of

_FILES = Path(__file__).with_name("static")
_KINDS = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}
PICTURES = tuple(map(REPORTS.joinpath, (*MODULES, "plot.css")))
"""Files of the pictures, which reports have, too."""
_LONGEST_BODY = 200_000
"""Largest number of bytes of a request that does something."""
_PAGE = 100
"""Episodes of a page of the list where a request does not say."""


class PlainJSON(JSONResponse):
    """JSON in ASCII: texts of models may hold halves of characters, which have no other encoding."""

    def render(self, content: Any) -> bytes:
        """Encode the content; what is no finite number is null."""
        return json.dumps(_finite(content), allow_nan=False, separators=(",", ":")).encode()


class Viewer:
    """Pages over one folder; they have no state of their own, but for jobs and games that go on."""

    def __init__(self, root: Path, host: str = "127.0.0.1", token: str = "", actions: Actions | None = None) -> None:
        self._root = root.resolve()
        self._host = host
        self._token = token
        self._actions = actions or Actions(self._root, {})
        own = [path for path in _FILES.iterdir() if path.suffix in _KINDS]
        self._files = {path.name: path for path in (*own, *PICTURES)}

    def application(self) -> Starlette:
        """Return the application behind its guard."""
        answers: dict[str, Callable[[Library, Mapping[str, str]], Json]] = {
            "library": self._library,
            "episodes": _episodes,
            "episode": _episode,
            "words": _words,
            "run": _run,
            **ANSWERS,
            **RUN_ANSWERS,
            **self._actions.gets(),
        }
        routes = [
            Route("/", self._first_page),
            *(Route(f"/static/{name}", self._file(name)) for name in self._files),
            *(Route(f"/api/{name}", self._answering(answer)) for name, answer in answers.items()),
            *(
                Route(f"{ACTIONS}{name}", self._acting(act), methods=["POST"])
                for name, act in {**self._actions.posts(), **RUN_ACTS}.items()
            ),
            Route("/api/live", self._live),
            Route("/faces/{name}", _face),
            Route("/pages/{name:path}", self._page),
        ]
        guard = Middleware(Guard, host=self._host, token=self._token)
        return Starlette(routes=routes, middleware=[guard], exception_handlers={HTTPException: _no_route})

    def _read(self) -> Library:
        return read_library(self._root)

    def _first_page(self, request: Request) -> Response:
        return Response(first_page(self._files), media_type="text/html")

    def _file(self, name: str) -> Callable[[Request], Response]:
        path = self._files[name]
        return lambda request: Response(path.read_bytes(), media_type=_KINDS[path.suffix])

    def _answering(self, answer: Callable[[Library, Mapping[str, str]], Json]) -> Callable[[Request], Response]:
        def answered(request: Request) -> Response:
            try:
                return PlainJSON(answer(self._read(), request.query_params))
            except StratagemError as error:
                return _error(error)

        return answered

    def _acting(self, act: Callable[[Library, Json], Json]) -> Callable[[Request], Awaitable[Response]]:
        async def acted(request: Request) -> Response:
            try:
                body = await _body(request)
                return PlainJSON(await run_in_threadpool(lambda: act(self._read(), body)))
            except StratagemError as error:
                return _error(error)

        return acted

    def _page(self, request: Request) -> Response:
        try:
            path = self._read().page(request.path_params["name"])
        except StratagemError as error:
            return _error(error)
        return Response(path.read_bytes(), media_type="text/html", headers={"content-security-policy": SANDBOX})

    async def _live(self, request: Request) -> Response:
        return EventStream(events(self._read))

    def _library(self, library: Library, asked: Mapping[str, str]) -> Json:
        return {
            "folder": self._root.name or str(self._root),
            "records": [_record(name, path) for name, path in library.records.items()],
            "runs": [run_row(name, run) for name, run in library.runs.items()],
            "pages": list(library.pages),
        }


def _face(request: Request) -> Response:
    try:
        return Response(stranger(request.path_params["name"]), media_type="text/javascript")
    except StratagemError as error:
        return _error(error)


def _record(name: str, path: Path) -> Json:
    try:
        rows = rows_of(path)
    except StratagemError as error:
        return {"name": name, "episodes": 0, "games": [], "players": [], "sentence": str(error)}
    players = dict.fromkeys(player for row in rows for player in row.players)
    return {
        "name": name,
        "episodes": len(rows),
        "games": list(dict.fromkeys(row.game for row in rows)),
        "players": list(players),
        "sentence": "",
    }


def _episodes(library: Library, asked: Mapping[str, str]) -> Json:
    wanted = Filter(
        illegal=asked.get("illegal", "") == "1",
        **{name: asked.get(name, "") for name in ("player", "game", "purpose", "outcome", "text", "opponent")},
    )
    return listed(
        library.record(given(asked, "record")),
        wanted,
        offset=number(asked, "offset", 0),
        limit=min(number(asked, "limit", _PAGE), LONGEST_PAGE),
        newest=asked.get("order", "") == "newest",
    )


def _episode(library: Library, asked: Mapping[str, str]) -> Json:
    return replay_of(library.record(given(asked, "record")), given(asked, "id"))


def _words(library: Library, asked: Mapping[str, str]) -> Json:
    folder = library.record(given(asked, "record"))
    episode = load_episode(folder, given(asked, "id"))
    turn, seat, attempt = (number(asked, name, 0) for name in ("turn", "seat", "attempt"))
    calls = words_of(episode, turn, seat, attempt, library.run_of(folder))
    return {"calls": [shaded(folder, find_row(folder, episode.id).shard, episode.game, call) for call in calls]}


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


def _run(library: Library, asked: Mapping[str, str]) -> Json:
    name = given(asked, "name")
    run = library.run(name)
    record = next((known for known, path in library.records.items() if path == run.record), None)
    return {**run_page(name, run), "record": record, "report": f"{name}/report.html" in library.pages}


def _finite(content: Any) -> Any:
    """Replace numbers that JSON does not have by null."""
    if isinstance(content, float):
        return content if abs(content) < float("inf") else None
    if isinstance(content, Mapping):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, str) or not isinstance(content, Iterable):
        return content
    return [_finite(value) for value in content]


def _error(error: StratagemError) -> Response:
    return PlainJSON({"error": str(error)}, status_code=404 if isinstance(error, UnknownName) else 400)


async def _no_route(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return PlainJSON({"error": "There is no such page."}, status_code=status)
