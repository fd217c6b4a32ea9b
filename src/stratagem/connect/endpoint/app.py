"""Web application of an endpoint: routes, the key, limits, and errors in OpenAI's form."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from traceback import format_exception

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from stratagem.base.errors import StratagemError, UnknownName
from stratagem.base.visible import visible
from stratagem.connect.endpoint.bodies import ChatRequest, read_chat, read_text
from stratagem.connect.endpoint.refusal import RefusedRequest, fault
from stratagem.connect.endpoint.responses import completion, model, models
from stratagem.connect.endpoint.served import ServedPlayer
from stratagem.connect.endpoint.turns import ChatAnswer
from stratagem.show.web.bodies import BadBody, PlainJSON, read_body
from stratagem.show.web.guard import bearer_of, is_own_name, is_secret

MOST_BYTES = 1 << 22
"""Largest number of bytes of a request."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class EndpointLimits:
    """Limits of an endpoint."""

    timeout: float = 120.0
    """Seconds from the first byte of a request to the answer."""
    concurrency: int = 64
    """Largest number of scripted players that are at work at once."""


class Endpoint:
    """Players by the names of their models."""

    def __init__(self, served: Mapping[str, ServedPlayer], limits: EndpointLimits, key: str) -> None:
        """`key` is what callers must send; empty lets everybody in."""
        self._served = served
        self._limits = limits
        self._key = key
        self._created = dict.fromkeys(served, int(time.time()))

    def application(self) -> Starlette:
        """Return the application."""
        routes = [
            Route("/v1/models", self._answering(self._list)),
            Route("/v1/models/{name:path}", self._answering(self._model)),
            Route("/v1/chat/completions", self._answering(self._reading(read_chat)), methods=["POST"]),
            Route("/v1/completions", self._answering(self._reading(read_text)), methods=["POST"]),
        ]
        return Starlette(routes=routes, exception_handlers={HTTPException: _no_route})

    def _answering(self, answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """Check the key, keep the time, and turn refusals into errors."""

        async def answered(request: Request) -> Response:
            try:
                self._check_name(request)
                self._check_key(request)
                async with asyncio.timeout(self._limits.timeout):
                    return await answer(request)
            except RefusedRequest as refused:
                return _error(refused)
            except BadBody as error:
                return _error(RefusedRequest(str(error), status=error.status))
            except TimeoutError:
                return _error(
                    RefusedRequest(
                        f"There was no answer within {self._limits.timeout:g} s.", status=504, code="timeout"
                    )
                )

        return answered

    def _check_name(self, request: Request) -> None:
        """Refuse a foreign name without a key: a page in a browser could lead its own name here (DNS rebinding)."""
        if not self._key and not is_own_name(request.headers):
            named = request.headers.get("host", "")
            raise RefusedRequest(
                f"Without a key this server answers to names of its own machine, such as 127.0.0.1, not to {named!r}.",
                status=421,
            )

    def _check_key(self, request: Request) -> None:
        if self._key and not is_secret(bearer_of(request.headers), self._key):
            raise RefusedRequest("The API key is missing or wrong.", status=401, code="invalid_api_key")

    async def _list(self, request: Request) -> Response:
        return PlainJSON(models(self._created))

    async def _model(self, request: Request) -> Response:
        name = request.path_params["name"]
        self._find(name)
        return PlainJSON(model(name, self._created[name]))

    def _find(self, name: str) -> ServedPlayer:
        if name not in self._served:
            raise RefusedRequest(
                str(UnknownName("model", name, self._served)), status=404, param="model", code="model_not_found"
            )
        return self._served[name]

    def _reading(self, read: Callable[[bytes], ChatRequest]) -> Callable[[Request], Awaitable[Response]]:
        async def completed(request: Request) -> Response:
            body = await read_body(request, MOST_BYTES)
            asked = await asyncio.to_thread(read, body)  # other requests are answered meanwhile
            return PlainJSON(await self._complete(asked))

        return completed

    async def _complete(self, asked: ChatRequest) -> dict[str, object]:
        served = self._find(asked.model)
        try:
            place = await asyncio.wrap_future(served.find(asked))
            answers = await _all(served.start(asked, place))
        except RefusedRequest:
            raise
        except Exception as error:  # the caller is told a sentence, and the operator how it came
            if not isinstance(error, StratagemError):
                _log.error(visible("".join(format_exception(error))).rstrip())
            raise fault(error) from error
        return completion(asked, answers, place, served.name)


async def _all(started: Sequence[Future[list[ChatAnswer]]]) -> list[ChatAnswer]:
    """Wait for all answers; the first failure gives up the rest."""
    futures = [asyncio.wrap_future(future) for future in started]
    try:
        return [answer for answers in await asyncio.gather(*futures) for answer in answers]
    finally:
        for future in futures:
            future.cancel()


async def _no_route(request: Request, error: Exception) -> Response:
    """Answer a wrong path or method."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    refused = RefusedRequest(
        f"There is no {request.method} {request.url.path}: there are GET /v1/models, POST /v1/chat/completions and "
        "POST /v1/completions.",
        status=status,
    )
    return _error(refused)


def _error(refused: RefusedRequest) -> Response:
    return PlainJSON(refused.to_json(), status_code=refused.status)
