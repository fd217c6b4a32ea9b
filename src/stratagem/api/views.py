"""Views: `view` shows runs, records and replies of models as pages in a browser."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

from stratagem.api.arguments import as_path
from stratagem.api.endpoints import check_address
from stratagem.api.mistakes import one_sentence
from stratagem.api.progress import bar
from stratagem.base.errors import BadParameter
from stratagem.base.hosts import Host, is_loopback
from stratagem.language.engines.remote.tally import PriceList, read_prices
from stratagem.playing.workers.limited import ProcessLimits
from stratagem.show.html import element
from stratagem.show.viewer.exporting.page import export
from stratagem.show.viewer.jobs import LIMITS, MINUTES, limits_of
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


__all__ = ["ViewerPages", "export_replays", "view"]


@dataclass(frozen=True)
class ViewerPages:
    """Pages that are open in a thread of this process, until `close` or the end of `with`."""

    folder: Path
    url: str
    """Address for a browser, with the token where there is one."""
    server: Server

    def wait(self) -> None:
        """Wait until the pages are closed."""
        self.server.wait()

    def close(self) -> None:
        """Close the pages."""
        self.server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{self.folder} at {self.url}"

    def _repr_html_(self) -> str:
        return element("a", f"{self.folder} at {self.url}", href=self.url)


@one_sentence
def view(
    folder: str | Path = ".",
    *,
    host: str = HOST,
    port: int = PORT,
    prices: str | Path | None = None,
    job_minutes: float = MINUTES,
    job_memory: float | None = None,
    needs_token: bool = True,
) -> ViewerPages:
    """Show runs, recorded games and the replies of models as pages in a browser, until they are closed.

    The pages are served by a thread of this process, until `close` or the end of `with`; `url` is the address, with a
    token.

    Args:
        folder: Run, record, audit, or a folder of them.
        host: Address to listen on; 0.0.0.0 opens the pages to other machines.
        port: Port; 0 takes a free one.
        prices: TOML file with the prices of models behind servers.
        job_minutes: Time limit of a job, such as playing on from a turn.
        job_memory: Memory limit of a job in GiB; by default half of the machine's.
        needs_token: False to let every user and program of this machine read all, and act in your name.
    """
    place = as_path(folder, "folder")
    check_address("view", host, port)
    listed = None if prices is None else read_prices(as_path(prices, "price list"))
    opened = open_viewer(place, host, port, listed, limits_of(job_minutes, job_memory), needs_token=needs_token)
    return ViewerPages(place, opened.url, opened.server)


@one_sentence
def export_replays(folder: str | Path, file: str | Path, *, episode: str = "", progress: bool = True) -> Path:
    """Write the replays of a run or a record into one HTML file that needs no network, and return its path.

    The file has at most 25 MB.

    Args:
        folder: Run or record.
        file: HTML file for the replays.
        episode: Id or number of the only episode; without it the file has all.
        progress: True to show progress: a bar in a terminal or in a notebook, and lines elsewhere.
    """
    target = as_path(file, "file")
    with bar("episodes", shown=progress) as show:
        export(as_path(folder, "folder"), target, episode, lambda done, total: show(done, total, "episodes"))
    return target
