"""`stratagem report`: a run as one page that needs no network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stratagem.cli.console import out
from stratagem.runs.folder import RunFolder


def report(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    into: Annotated[Path | None, typer.Option("--out", help="The page's file; by default RUN/report.html.")] = None,
) -> None:
    """Write a run's report: one HTML file with its figures, curves, play and recipe, which opens without a network."""
    from stratagem.reports.report import write_report

    path = write_report(RunFolder.open(folder), into)
    out.print(f"{path}: {path.stat().st_size / 1e6:.1f} MB", highlight=False, markup=False)
