"""Server of tables by the official SDK of the Model Context Protocol, over standard streams or over HTTP.

The protocol has no sessions that tables could belong to, so the HTTP side is stateless: a handle is all that leads to a
table. Over standard streams one client starts this process, and ends it by closing the input.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from stratagem import __version__
from stratagem.base.consent.table import never_ask
from stratagem.base.errors import MissingExtra
from stratagem.connect.mcp.replies import TableReply
from stratagem.connect.mcp.tools import HOW_TO, TOOLS, TableSource, call_tool
from stratagem.show.web.bodies import PlainJSON
from stratagem.show.web.guard import bearer_of, is_own_name, is_same_origin, is_secret

try:
    from mcp import types
    from mcp.server.lowlevel import Server as ProtocolServer
    from mcp.server.stdio import stdio_server
    from mcp.server.transport_security import TransportSecuritySettings
except ImportError as error:
    raise MissingExtra("A server of the Model Context Protocol", "mcp") from error

PATH = "/mcp"
MOST_BYTES = 1 << 20
"""Largest number of bytes of a request."""
_THREADS = 64
"""Largest number of calls that are at work, or wait for a question, at once."""


def protocol_server(tables: TableSource) -> ProtocolServer[Any]:
    """Return a server with the tools of these tables."""
    workers = ThreadPoolExecutor(_THREADS, "stratagem-mcp")

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=_list_tools())

    async def call(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        loop = asyncio.get_running_loop()
        reply = await loop.run_in_executor(workers, call_tool, tables, params.name, params.arguments or {})
        return _result(reply)

    return ProtocolServer(
        "stratagem", version=__version__, instructions=HOW_TO, on_list_tools=list_tools, on_call_tool=call
    )


def _list_tools() -> list[types.Tool]:
    return [
        types.Tool(
            name=tool.name,
            description=tool.description,
            input_schema=tool.schema,
            annotations=types.ToolAnnotations(
                read_only_hint=not tool.changes, destructive_hint=False, open_world_hint=False
            ),
        )
        for tool in TOOLS.values()
    ]


def _result(reply: TableReply) -> types.CallToolResult:
    """Return a reply as the protocol has it."""
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=reply.text)],
        structured_content=reply.data,
        is_error=reply.is_error,
    )


class ClientGuard:
    """Guard in front of the application: the name of this machine, the origin, and the key where there is one."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self._app, self._key = app, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it in one sentence."""
        if scope["type"] == "http" and (refused := self._refuse(Request(scope))) is not None:
            status, sentence = refused
            await PlainJSON({"error": sentence}, status_code=status)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _refuse(self, request: Request) -> tuple[int, str] | None:
        """Return the status and the sentence of a refusal; None where the request may pass."""
        if self._key and not is_secret(bearer_of(request.headers), self._key):
            return 401, "The key is missing or wrong: send it as `Authorization: Bearer KEY`."
        if not self._key and not is_own_name(request.headers):
            return 421, "Without a key this server answers to names of its own machine alone, such as 127.0.0.1."
        if not is_same_origin(request.headers):
            return 403, "A page of another origin may not call this server."
        return None


def application(tables: TableSource, key: str) -> Starlette:
    """Return the application for streamable HTTP; callers send the key, if it is not empty."""
    checked_here = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app: Starlette = protocol_server(tables).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=MOST_BYTES,
        transport_security=checked_here,
    )
    app.user_middleware.insert(0, Middleware(ClientGuard, key=key))
    return app


class StandardStreams:
    """Server on the standard streams of this process, until the client closes the input.

    What this process prints goes to the standard error from now on, since the standard output belongs to the protocol.
    """

    url = "the standard input and output"

    def __init__(self, tables: TableSource, closing: Callable[[], None] = lambda: None) -> None:
        """`closing` is called when the client has left."""
        self._tables, self._closing = tables, closing
        never_ask()  # the answer would be read from the protocol
        self._output = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
        os.dup2(2, 1)
        self._ended = Event()
        Thread(target=self._run, name="stratagem-mcp", daemon=True).start()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except* ConnectionError:
            pass  # the client left without a word
        finally:
            self._closing()
            self._ended.set()

    async def _serve(self) -> None:
        server = protocol_server(self._tables)
        async with stdio_server(stdout=anyio.wrap_file(self._output)) as (reads, writes):
            await server.run(reads, writes, server.create_initialization_options())

    def wait(self) -> None:
        """Wait until the client has left."""
        self._ended.wait()

    def close(self) -> None:
        """Do nothing: the thread ends with the client, or with this process."""
