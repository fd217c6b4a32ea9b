"""Start of the viewer on one address."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stratagem.base.errors import BadParameter
from stratagem.base.hosts import Host, is_loopback
from stratagem.language.engines.remote.tally import PriceList
from stratagem.playing.workers.limited import ProcessLimits
from stratagem.show.viewer.jobs import LIMITS
from stratagem.show.viewer.library import open_library

if TYPE_CHECKING:
    from stratagem.show.web.server import Server

HOST, PORT = "127.0.0.1", 8150


class OpenedViewer(NamedTuple):
    """Viewer that is open."""

    server: Server
    url: str
    """Address for a browser, with the token where there is one."""


def open_viewer(
    folder: Path,
    host: str = HOST,
    port: int = PORT,
    prices: PriceList | None = None,
    limits: ProcessLimits = LIMITS,
    *,
    needs_token: bool = True,
) -> OpenedViewer:
    """Open the pages over a folder; a browser needs a token, which is drawn now.

    Other users of this machine reach its loopback addresses, too. `needs_token` False lets all of them in, and is
    refused beyond this machine. `prices` are those of models behind servers, by model; `limits` are those of a job.
    """
    if not needs_token and not is_loopback(Host(host)):
        raise BadParameter(f"Without a token the pages are for this machine alone: leave out the host {host}.")
    root = open_library(folder.resolve()).root
    from stratagem.show.viewer.app import Viewer
    from stratagem.show.viewer.studio import Studio
    from stratagem.show.web.server import Server

    studio = Studio(root, prices, limits)
    token = secrets.token_urlsafe(24) if needs_token else ""
    server = Server(Viewer(studio, host, token).application(), host, port, closing=studio.close)
    return OpenedViewer(server, f"{server.url}/?token={token}" if token else f"{server.url}/")
