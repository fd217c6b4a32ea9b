"""Server of a web application: a thread of this process, on one address.

A connection that does not send the whole head of a request in time, or its body, is closed.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from stratagem.base.consent.table import never_ask
from stratagem.base.errors import BadParameter
from stratagem.base.visible import VisibleFormatter

_BACKLOG = 2048
_PAUSE = 0.005
"""Seconds between two looks at a server that starts."""
_GOODBYE = 5
"""Seconds for open requests of an application with a lifespan, which is ended after them."""
HEAD_SECONDS = 20.0
"""Longest time from the opening of a connection, or the first byte of a further request, to the end of its head."""

BODY_SECONDS = 120.0
"""Longest time from the end of a head to the end of the body."""
_LOGS = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"visible": {"()": VisibleFormatter}},
    "handlers": {"errors": {"class": "logging.StreamHandler", "formatter": "visible"}},
    "loggers": {"uvicorn": {"handlers": ["errors"], "propagate": False}},
}
"""Log of uvicorn: the traceback of a defect may quote the request."""


class TimedConnection(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """Connection of uvicorn with time limits: without them, half a head or body would hold it for ever."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._waiting: asyncio.TimerHandle | None = None
        self._body_of: object = None
        """Request whose body is waited for."""
        self._wait(HEAD_SECONDS)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._wait(HEAD_SECONDS)
        elif not self.cycle.more_body:
            self._stop_waiting()
        elif self._body_of is not self.cycle:
            self._body_of = self.cycle
            self._stop_waiting()
            self._wait(BODY_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self, seconds: float) -> None:
        if self._waiting is None:
            self._waiting = asyncio.get_running_loop().call_later(seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        self._waiting = None
        if not self.transport.is_closing():
            self.transport.close()


class Server:
    """Application that is open, until it is closed."""

    def __init__(
        self,
        application: Starlette,
        host: str,
        port: int,
        *,
        path: str = "",
        lifespan: bool = False,
        closing: Callable[[], None] = lambda: None,
    ) -> None:
        """`closing` frees what the application needs, after the address is closed; `lifespan` runs what it starts."""
        self._closing, self._lifespan = closing, lifespan
        self._socket = _bound(host, port)
        self.url = _url(self._socket) + path
        """Address up to `path`, as clients take it."""
        config = uvicorn.Config(
            application,
            http=TimedConnection,
            log_config=_LOGS,
            log_level="error",
            access_log=False,
            lifespan="on" if lifespan else "off",
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=_GOODBYE if lifespan else None,
        )
        self._server = uvicorn.Server(config)
        self._ended = Event()
        self._thread = Thread(target=self._run, daemon=True)
        never_ask()  # a request of a stranger would ask at the terminal of the owner
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(_PAUSE)
        if not self._server.started:
            self._socket.close()
            raise BadParameter(f"The server at {self.url} did not start: choose another address or port.")

    def _run(self) -> None:
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._ended.set()

    def wait(self) -> None:
        """Wait until the server is closed."""
        self._ended.wait()  # Python 3.11 takes a thread for ended whose `join` is interrupted, as by ^C

    def close(self) -> None:
        """Close the address; open requests are broken off, after a moment where the application ends what it began."""
        self._server.should_exit = True
        self._server.force_exit = not self._lifespan
        self._thread.join()
        self._socket.close()
        self._closing()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Server({self.url})"


def _bound(host: str, port: int) -> socket.socket:
    """Open the address, or say in one sentence why it cannot be."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        opened = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise BadParameter(f"There is no address {host!r} ({_reason(error)}): say 127.0.0.1.") from None
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        opened.close()
        raise BadParameter(
            f"Nothing can be served at {host}:{port} ({_reason(error)}): choose another port, or 0 for a free one."
        ) from None
    return opened


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__


def _url(opened: Any) -> str:
    host, port = opened.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
