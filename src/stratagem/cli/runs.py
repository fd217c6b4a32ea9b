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
    folder: Annotated[Path, typer.Argument(help="Where the runs lie.")] = RUNS, json: options.Json = False
) -> None:
    """List the runs in a folder with their status and newest figures."""
    found = [_told(run) for run in find_runs(folder)]
    if json:
        print_json(found)
        return
    made = table(f"Runs in {folder}", "run", "state", "since", "step", "best", "exploitability", numbers=False)
    for one in found:
        made.add_row(Text(one["run"]), *_cells(one))
    out.print(made)
    for one in found:
        if one["state"] == "damaged":
            errors.print(one["sentence"], highlight=False, markup=False)


def _told(run: RunFolder) -> dict[str, Any]:
    """Return a run as data; for a damaged one the error in a sentence."""
    place = {"run": run.name, "path": str(run.path)}
    try:
        return place | standing(run)
    except StratagemError as error:
        return place | {"state": "damaged", "sentence": str(error)}


def standing(run: RunFolder) -> dict[str, Any]:
    """Describe the status of a run; steps are counted from the end of SFT, as in its report."""
    status, data = run.status(), RunData(run)
    curves, _ = read_metrics(run), latest(run, digests=False)  # both tell of damage, where a report leaves it out
    exact = {name.removesuffix(_EXACT): curve.values[-1] for name, curve in curves.items() if name.endswith(_EXACT)}
    return {
        "state": status.state,
        "sentence": status.sentence,
        "since": status.since,
        "algorithm": data.algorithm,
        "seed": run.info().seed,
        "warm_steps": data.warm_steps,
        "step": data.last_step or 0,
        "best_step": data.chosen_step,
        "exploitability": exact,
    }


def _cells(one: dict[str, Any]) -> list[str]:
    if one["state"] == "damaged":
        return ["damaged"]
    exact = ", ".join(map(number, one["exploitability"].values()))
    return [one["state"], one["since"], _step(one, "step"), _step(one, "best_step"), exact]


def _step(one: dict[str, Any], name: str) -> str:
    """Return a step after those of SFT, as `500+60`, whose sum is the label of the checkpoint."""
    warm, step = one["warm_steps"], one[name]
    return "" if step is None else f"{warm}+{step}" if warm else str(step)
