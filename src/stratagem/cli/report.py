"""`stratagem report`: one HTML page of a run, an evaluation or a tournament."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stratagem.api.reports import report as write_report
from stratagem.cli import options
from stratagem.cli.output import print_result


def report(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="Folder of a run or of a record, or a file that --out of eval or tournament wrote."
        ),
    ],
    into: Annotated[
        Path | None, typer.Option("--out", help="File of the page; by default report.html in the folder.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Write a report: one HTML file with figures, curves, episodes and recipe, which needs no network."""
    print_result(write_report(folder, into), json=json)
