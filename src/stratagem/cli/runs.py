"""`stratagem runs`: the runs in a folder, with their status and newest figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from stratagem.cli import options
from stratagem.cli.console import errors, out
from stratagem.cli.output import number, print_json, table
from stratagem.errors import StratagemError
from stratagem.reports.run_data import RunData
from stratagem.runs.checkpoint import latest
from stratagem.runs.folder import RunFolder, find_runs
from stratagem.runs.metrics import read_metrics

RUNS = Path("runs")
_EXACT = "/exact/exploitability"


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


def status_of(run: RunFolder) -> dict[str, Any]:
    """Describe the status of a run; steps are counted from the end of SFT, as in its report."""
    status, data = run.status(), RunData(run)
    curves, _ = read_metrics(run), latest(run, digests=False)  # both raise on damage, which a report leaves out
    exact = {name.removesuffix(_EXACT): curve.values[-1] for name, curve in curves.items() if name.endswith(_EXACT)}
    return {
        "state": status.state,
        "sentence": status.sentence,
        "since": status.since,
        "algorithm": data.algorithm,
        "seed": run.info().seed,
        "sft_steps": data.sft_steps,
        "step": data.last_step or 0,
        "best_step": data.chosen_step,
        "exploitability": exact,
    }


def _cells(row: dict[str, Any]) -> list[str]:
    if row["state"] == "damaged":
        return ["damaged"]
    exact = ", ".join(map(number, row["exploitability"].values()))
    return [row["state"], row["since"], _step(row, "step"), _step(row, "best_step"), exact]


def _step(row: dict[str, Any], name: str) -> str:
    """Return a step after those of SFT, as `500+60`, whose sum is the label of the checkpoint."""
    sft_steps, step = row["sft_steps"], row[name]
    return "" if step is None else f"{sft_steps}+{step}" if sft_steps else str(step)
