"""`stratagem runs`: the runs in a folder, with their status and newest figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from stratagem.api.trainings import RUNS
from stratagem.cli import options
from stratagem.cli.console import errors, out
from stratagem.cli.output import number, print_json, table
from stratagem.errors import StratagemError
from stratagem.reports.run_status import status_of
from stratagem.runs.folder import RunFolder, find_runs


def runs(
    folder: Annotated[Path, typer.Argument(help="Folder of the runs.")] = RUNS, json: options.Json = False
) -> None:
    """List the runs in a folder with their status and newest figures."""
    rows = [_row(run) for run in find_runs(folder)]
    if json:
        print_json(rows)
        return
    grid = table(f"Runs in {folder}", "run", "state", "since", "step", "best", "exploitability", numbers=False)
    for row in rows:
        grid.add_row(Text(row["run"]), *_cells(row))
    out.print(grid)
    for row in rows:
        if row["state"] == "damaged":
            errors.print(row["sentence"], highlight=False, markup=False)


def _row(run: RunFolder) -> dict[str, Any]:
    """Return a run as data; for a damaged one the error in a sentence."""
    names = {"run": run.name, "path": str(run.path)}
    try:
        return names | status_of(run)
    except StratagemError as error:
        return names | {"state": "damaged", "sentence": str(error)}


def _cells(row: dict[str, Any]) -> list[str]:
    if row["state"] == "damaged":
        return ["damaged"]
    exact = ", ".join(map(number, row["exploitability"].values()))
    return [row["state"], row["since"], _step(row, "step"), _step(row, "best_step"), exact]


def _step(row: dict[str, Any], name: str) -> str:
    """Return a step after those of SFT, as `500+60`, whose sum is the label of the checkpoint."""
    sft_steps, step = row["sft_steps"], row[name]
    return "" if step is None else f"{sft_steps}+{step}" if sft_steps else str(step)
