"""`stratagem report`: a run, an evaluation or a tournament as one page that needs no network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stratagem.cli.console import out
from stratagem.runs.folder import RunFolder


def report(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="The folder of a run or of a record, or a file that --out of eval or tournament wrote."
        ),
    ],
    into: Annotated[
        Path | None, typer.Option("--out", help="The page's file; by default report.html in the folder.")
    ] = None,
) -> None:
    """Write a report: one HTML file with figures, curves, play and recipe, which opens without a network."""
    from stratagem.reports.figures_page import is_figures, write_figures
    from stratagem.reports.report import write_report

    path = write_figures(folder, into) if is_figures(folder) else write_report(RunFolder.open(folder), into)
    out.print(f"{path}: {path.stat().st_size / 1e6:.1f} MB", highlight=False, markup=False)
