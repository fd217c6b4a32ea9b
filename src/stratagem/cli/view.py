"""`stratagem view`: pages on this machine that show runs, records and the replies of models."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from stratagem.api.views import export_replays
from stratagem.api.views import view as open_view
from stratagem.cli import options
from stratagem.cli.console import out
from stratagem.errors import BadParameter
from stratagem.viewer.jobs import MINUTES
from stratagem.viewer.opening import HOST, PORT


def view(
    folder: Annotated[Path, typer.Argument(help="Run, record, audit, or a folder of them.")] = Path(),
    host: Annotated[
        str, typer.Option(help="Address to listen on; other machines can ask where it is not of this one.")
    ] = HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = PORT,
    prices: options.PriceList = None,
    export: Annotated[
        Path | None, typer.Option(help="Write replays into one HTML file that needs no network, and end.")
    ] = None,
    episode: Annotated[str, typer.Option(help="Id or number of the only episode of `--export`; all without it.")] = "",
    job_minutes: Annotated[float, typer.Option(help="Time limit of a job, such as playing on from a turn.")] = MINUTES,
    job_memory: Annotated[
        float | None, typer.Option(help="Memory limit of a job in GiB.", show_default="half of the machine's")
    ] = None,
    no_token: Annotated[
        bool,
        typer.Option("--no-token", help="Let every user and program of this machine read all, and act in your name."),
    ] = False,
) -> None:
    """Show runs, recorded games and the replies of models as pages in a browser, until Ctrl-C."""
    if export is not None:
        written = export_replays(folder, export, episode=episode)
        out.print(f"{written}, {written.stat().st_size / 1e6:.1f} MB", highlight=False, markup=False, soft_wrap=True)
        return
    if episode:
        raise BadParameter("`--episode` names the only episode of `--export`, which is missing.")
    opened = open_view(
        folder,
        host=host,
        port=port,
        prices=prices,
        job_minutes=job_minutes,
        job_memory=job_memory,
        needs_token=not no_token,
    )
    with opened, suppress(KeyboardInterrupt):
        out.print(str(opened), highlight=False, markup=False, soft_wrap=True)
        opened.wait()
