"""Start of the viewer on one address."""

from __future__ import annotations

import secrets
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stratagem.engines.remote.tally import PriceList
from stratagem.errors import BadParameter, MissingExtra
from stratagem.hosts import Host, is_loopback
from stratagem.viewer.jobs import LIMITS
from stratagem.viewer.library import open_library
from stratagem.workers.limited import Limits

if TYPE_CHECKING:
    from stratagem.endpoint.server import Server

HOST, PORT = "127.0.0.1", 8150


class Opened(NamedTuple):
    """Viewer that is open."""

    server: Server
    url: str
    """Address for a browser, with the token where there is one."""


def open_viewer(
    folder: Path,
    host: str = HOST,
    port: int = PORT,
    prices: PriceList | None = None,
    limits: Limits = LIMITS,
    *,
    needs_token: bool = True,
) -> Opened:
    """Open the pages over a folder; a browser needs a token, which is drawn now.

    Other users of this machine reach its loopback addresses, too. `needs_token` False lets all of them in, and is
    refused beyond this machine. `prices` are those of models behind servers, by model; `limits` are those of a job.
    """
    if not needs_token and not is_loopback(Host(host)):
        raise BadParameter(f"Without a token the pages are for this machine alone: leave out the host {host}.")
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise MissingExtra("The viewer", "serve")
    root = open_library(folder.resolve()).root
    from stratagem.endpoint.server import Server
    from stratagem.viewer.actions import Actions
    from stratagem.viewer.app import Viewer

    actions = Actions(root, prices or {}, limits)
    token = secrets.token_urlsafe(24) if needs_token else ""
    server = Server(Viewer(root, host, token, actions).application(), host, port, closing=actions.close)
    return Opened(server, f"{server.url}/?token={token}" if token else f"{server.url}/")
