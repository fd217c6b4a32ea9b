"""Connection to one server by the openai package: it returns the bytes of an answer, or a `Failure` safe to show.

Only this file knows that package; its own retries are off, redirects are not followed, and answers have a largest size.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import openai

from stratagem.base.errors import BadParameter
from stratagem.base.hosts import host_of, is_loopback
from stratagem.language.engines.remote.replies import error_code, error_message, quote_start
from stratagem.language.engines.remote.retries import Failure, Patience, asked_pause, passes
from stratagem.language.engines.remote.secret import NEEDED, Secret

MOST_BYTES = 1 << 22
"""Largest number of bytes of an answer."""
_CONNECT = 10.0
"""Timeout of a connection in seconds."""
_PLAIN = {"Accept-Encoding": "identity"}
"""Header that asks for uncompressed answers: a few bytes of a compressed one could fill the memory."""


_BEARER = "authorization"
AZURE = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
"""Ends of the hosts that take a key in a header of its own."""


def key_header_of(url: str) -> str:
    """Return the header that carries the key of a server."""
    return "api-key" if host_of(url).name.endswith(AZURE) else _BEARER


class Connection:
    """A client of one server, with a limit on the requests that are under way at once."""

    def __init__(self, url: str, secret: Secret, patience: Patience, max_concurrent: int) -> None:
        self._secret = secret
        self._seconds = patience.timeout
        self._connect = min(patience.timeout / 2, _CONNECT)
        self.slots = asyncio.Semaphore(max_concurrent)
        self._client = _client(url, secret, httpx2.Timeout(patience.timeout, connect=self._connect))

    async def chat(self, body: dict[str, Any]) -> bytes:
        """Send a chat request and return the answer."""
        return await self.post("/chat/completions", body)

    async def post(self, path: str, body: dict[str, Any]) -> bytes:
        """Send a request to a path below the address, or to another address of the same server."""
        post = self._client.post
        return await self._send_request(lambda: post(path, cast_to=httpx2.Response, body=body), self._seconds)

    async def models(self) -> bytes:
        """Ask for the list of models."""
        seconds = min(self._seconds, _CONNECT)
        return await self._send_request(lambda: self._client.get("/models", cast_to=httpx2.Response), seconds)

    async def aclose(self) -> None:
        await self._client.close()

    async def _send_request(self, send: Callable[[], Awaitable[httpx2.Response]], seconds: float) -> bytes:
        try:
            async with asyncio.timeout(seconds):
                return (await send()).content
        except TimeoutError:
            raise self._late() from None
        except openai.APIStatusError as error:
            raise self._failure_of_response(error.response) from None
        except openai.APIConnectionError as error:
            raise self._failure_of_error(error) from None

    def _late(self) -> Failure:
        return Failure(f"gave no answer within {self._seconds:g} s", again=True, kind="timeout")

    def _failure_of_response(self, response: httpx2.Response) -> Failure:
        status = response.status_code
        full = self._secret.hide(response.headers.get("location") or error_message(response.content))
        why = f"answered with status {status}: {quote_start(full)}"
        asked, code = asked_pause(response.headers), error_code(response.content)
        return Failure(why, again=passes(status), status=status, asked=asked, full=full, code=code)

    def _failure_of_error(self, error: openai.APIConnectionError) -> Failure:
        cause = error.__cause__
        if isinstance(cause, _TooLong):
            return Failure(f"answered with more than {MOST_BYTES >> 20} MiB")
        if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError):
            late = isinstance(cause, httpx2.ConnectTimeout)
            reason = (
                f"no connection within {self._connect:g} s" if late else quote_start(self._secret.hide(_root(cause)))
            )
            return Failure(f"cannot be reached ({reason})", again=True, reached=False)
        if isinstance(cause, httpx2.TimeoutException):
            return self._late()
        return Failure("broke off without a whole answer", again=True)


class _TooLong(httpx2.ReadError):
    """Answer that is too long."""


class _BoundedStream(httpx2.AsyncByteStream):
    """Stream that stops when it grows too long."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._stream:
            size += len(piece)
            if size > MOST_BYTES:
                raise _TooLong("too long")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound(response: httpx2.Response) -> None:
    """Limit the size of an answer, and refuse compression that was not requested."""
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _BoundedStream(response.stream)
    response.headers.pop("content-encoding", None)


def _strip_headers(secret: Secret, key_header: str) -> Callable[[httpx2.Request], Awaitable[None]]:
    """Remove all headers but these: the package adds values of other environment variables, keys among them."""

    async def strip(request: httpx2.Request) -> None:
        for name in set(request.headers) - NEEDED:
            del request.headers[name]
        if key_header == _BEARER:
            request.headers[_BEARER] = f"Bearer {secret.reveal()}"
        else:
            request.headers[key_header] = secret.reveal()
        request.headers.update(dict(secret.headers))

    return strip


def _client(url: str, secret: Secret, seconds: httpx2.Timeout) -> openai.AsyncOpenAI:
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    try:
        _ = urlsplit(url).port
        direct = is_loopback(host_of(url))  # what stays on this machine goes by no proxy, which would read the key
        sender = httpx2.AsyncClient(
            timeout=seconds,
            limits=limits,
            headers=_PLAIN,
            event_hooks={"request": [_strip_headers(secret, key_header_of(url))], "response": [_bound]},
            trust_env=not direct,
        )
        return openai.AsyncOpenAI(
            base_url=urlsplit(url)._replace(query="").geturl(),
            api_key=secret.reveal(),
            http_client=sender,
            timeout=seconds,
            max_retries=0,
            default_query=dict(parse_qsl(urlsplit(url).query)),
        )
    except (httpx2.InvalidURL, ValueError) as error:
        raise BadParameter(
            f"{quote_start(url)!r} is no address ({type(error).__name__}): check it and the proxy."
        ) from None


def _root(error: BaseException) -> str:
    """Return the system's error, below the libraries' errors around it."""
    while deeper := error.__cause__ or error.__context__:
        error = deeper
    if isinstance(error, BaseExceptionGroup):
        return _root(error.exceptions[0])
    if isinstance(error, ssl.SSLError):  # its numbers are not those of the system
        said = getattr(error, "verify_message", "") or (error.reason or "no reason").replace("_", " ").casefold()
        return f"TLS: {said}"
    if isinstance(error, OSError) and error.errno and error.errno > 0:
        return os.strerror(error.errno)
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
