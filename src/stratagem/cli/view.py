"""`stratagem view`: pages on this machine that show runs, records and the replies of models."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from stratagem.cli import options
from stratagem.cli.console import out
from stratagem.engines.remote.tally import read_prices
from stratagem.viewer.opening import HOST, PORT, open_viewer


def view(
    folder: Annotated[Path, typer.Argument(help="Run, record, audit, or a folder of them.")] = Path(),
    host: Annotated[str, typer.Option(help="Address; beyond this machine a browser needs the printed token.")] = HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = PORT,
    prices: options.PriceList = None,
    allow_file: options.AllowFile = None,
) -> None:
    """Show runs, recorded games and the replies of models as pages in a browser, until Ctrl-C."""
    opened = open_viewer(folder, host, port, read_prices(prices) if prices else None)
    with opened.server, suppress(KeyboardInterrupt):
        out.print(f"{folder} at {opened.url}", highlight=False, markup=False, soft_wrap=True)
        opened.server.wait()
