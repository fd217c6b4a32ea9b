"""`stratagem report`: one HTML page of a run, an evaluation or a tournament."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stratagem.cli import options
from stratagem.cli.console import out
from stratagem.cli.output import print_json
from stratagem.runs.folder import RunFolder


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
    allow_file: options.AllowFile = None,
    json: options.Json = False,
) -> None:
    """Write a report: one HTML file with figures, curves, episodes and recipe, which needs no network."""
    from stratagem.reports.figures_page import figures_summary, is_figures, write_figures
    from stratagem.reports.report import write_report
    from stratagem.reports.summary import summary

    figures = is_figures(folder)
    path = write_figures(folder, into) if figures else write_report(RunFolder.open(folder), into)
    if json:
        summary_data = figures_summary(folder) if figures else summary(RunFolder.open(folder))
        print_json({"page": str(path), **summary_data})
    else:
        out.print(f"{path}: {path.stat().st_size / 1e3:.0f} kB", highlight=False, markup=False)
