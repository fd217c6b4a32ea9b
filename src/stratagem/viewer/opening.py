"""Start of the viewer on one address."""

from __future__ import annotations

import secrets
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stratagem.engines.remote.hosts import Host, is_loopback
from stratagem.engines.remote.tally import PriceList
from stratagem.errors import MissingExtra
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
    folder: Path, host: str = HOST, port: int = PORT, prices: PriceList | None = None, limits: Limits = LIMITS
) -> Opened:
    """Open the pages over a folder; beyond this machine a browser needs a token, which is drawn now.

    `prices` are those of models behind servers, by model; `limits` are those of a job.
    """
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise MissingExtra("The viewer", "serve")
    root = open_library(folder.resolve()).root
    from stratagem.endpoint.server import Server
    from stratagem.viewer.actions import Actions
    from stratagem.viewer.app import Viewer

    actions = Actions(root, prices or {}, limits)
    token = "" if is_loopback(Host(host)) else secrets.token_urlsafe(24)
    server = Server(Viewer(root, host, token, actions).application(), host, port, closing=actions.close)
    return Opened(server, f"{server.url}/?token={token}" if token else f"{server.url}/")
