"""`stratagem view`: pages on this machine that show runs, records and the replies of models."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from stratagem.api.views import view as open_view
from stratagem.cli import options
from stratagem.cli.console import out
from stratagem.viewer.opening import HOST, PORT


def view(
    folder: Annotated[Path, typer.Argument(help="Run, record, audit, or a folder of them.")] = Path(),
    host: Annotated[str, typer.Option(help="Address; beyond this machine a browser needs the printed token.")] = HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = PORT,
    prices: options.PriceList = None,
    allow_file: options.AllowFile = None,
) -> None:
    """Show runs, recorded games and the replies of models as pages in a browser, until Ctrl-C."""
    with open_view(folder, host=host, port=port, prices=prices) as opened, suppress(KeyboardInterrupt):
        out.print(str(opened), highlight=False, markup=False, soft_wrap=True)
        opened.wait()
