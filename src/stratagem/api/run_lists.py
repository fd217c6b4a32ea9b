"""Runs of a folder: `list_runs` lists them with their status and their newest figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from stratagem.api.arguments import as_path
from stratagem.api.mistakes import one_sentence
from stratagem.api.pictures import lines
from stratagem.api.result import PlottedResult
from stratagem.api.runs import Run
from stratagem.api.trainings import RUNS
from stratagem.base.errors import StratagemError, UnknownName
from stratagem.games.base import Json
from stratagem.show.cells import number
from stratagem.show.reports.run_status import status_of
from stratagem.show.table import ResultTable, text_table
from stratagem.training.runs.folder import RunFolder, find_runs, is_run

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_EXACT = "/exact/exploitability"

__all__ = ["Runs", "list_runs"]


@dataclass(frozen=True, repr=False)
class Runs(PlottedResult):
    """Runs in a folder, each with its status as it was when they were listed."""

    folder: Path
    runs: tuple[Run, ...]
    """Runs, also those that are damaged."""
    statuses: tuple[Json, ...]
    """Status of each run; that of a damaged one is a sentence."""

    @property
    def damaged(self) -> list[str]:
        """Sentences about the runs that cannot be read."""
        return [row["sentence"] for row in self.statuses if row["state"] == "damaged"]

    def rows(self) -> list[Json]:
        """Return one row for each run."""
        return list(self.statuses)

    def tables(self) -> list[ResultTable]:
        columns = ("run", "state", "since", "step", "best", "newest exploitability")
        rows = [(row["run"], *_cells(row)) for row in self.statuses]
        table = text_table(f"Runs in {self.folder}", columns, rows)
        return [replace(table, warnings=tuple(self.damaged))] if rows else []

    def remarks(self) -> list[str]:
        """Return a sentence where the folder has no runs."""
        none = f"There are no runs in {self.folder}: name the folder that holds them, such as {RUNS}."
        return [] if self.runs else [none]

    @one_sentence
    def plot(self, metric: str = "") -> Figure:
        """Draw one metric of all runs over the steps of training, by default an exact exploitability."""
        whole = [run for run, row in zip(self.runs, self.statuses, strict=True) if row["state"] != "damaged"]
        known = dict.fromkeys(name for run in whole for name in run.curves)
        wanted = metric or next((name for name in known if name.endswith(_EXACT)), "")
        if wanted not in known:
            raise UnknownName("metric of these runs", wanted, known)
        curves = {run.folder.name: run.curves[wanted] for run in whole if wanted in run.curves}
        return lines(wanted, "step", {name: (curve.steps, curve.values) for name, curve in curves.items()})


@one_sentence
def list_runs(folder: str | Path = RUNS) -> Runs:
    """List the runs in a folder with their status and newest figures.

    Args:
        folder: Folder of the runs.
    """
    place = as_path(folder, "folder")
    if not place.is_dir() and place != RUNS:
        raise StratagemError(f"There is no folder {place}.")
    found = [RunFolder(place)] if is_run(place) else find_runs(place)
    return Runs(place, tuple(map(Run, found)), tuple(map(_status, found)))


def _status(run: RunFolder) -> Json:
    """Return a run as data; for a damaged one the error in a sentence."""
    names = {"run": run.name, "path": str(run.path)}
    try:
        return names | status_of(run)
    except StratagemError as error:
        return names | {"state": "damaged", "sentence": str(error)}


def _cells(row: Json) -> tuple[str, ...]:
    if row["state"] == "damaged":
        return ("damaged", "", "", "", "")
    exact = ", ".join(map(number, row["exploitability"].values()))
    return row["state"], row["since"], _step(row, "step"), _step(row, "best_step"), exact


def _step(row: Json, name: str) -> str:
    """Return a step after those of SFT, as `500+60`, whose sum is the label of the checkpoint."""
    sft_steps, step = row["sft_steps"], row[name]
    return "" if step is None else f"{sft_steps}+{step}" if sft_steps else str(step)
