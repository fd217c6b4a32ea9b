"""Runs: `load_run` opens the folder of a run, with its status, its curves, its models and its report."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from stratagem.api.arguments import as_path
from stratagem.api.mistakes import one_sentence
from stratagem.api.pictures import lines
from stratagem.api.result import PlottedResult
from stratagem.base.errors import UnknownName, WrongKind
from stratagem.base.renamed.metrics import present_metric
from stratagem.games.base import Json
from stratagem.show.reports.headline import headline_tables, headlines
from stratagem.show.reports.run_data import SFT_PREFIXES, RunData
from stratagem.show.reports.run_status import status_of
from stratagem.show.table import Numbers, ResultTable, columns_of, text_table
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import Curve

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_KEY = ("payoff", "validation/payoff", "validation/pool_advantage", "validation/safety", "exact/exploitability", "loss")
"""Metrics of the summary, for each game or stage; the payoff of one step only where no validation measures it."""

__all__ = ["Run", "load_run"]


@dataclass(frozen=True, repr=False)
class Run(PlottedResult):
    """Run: a folder with the recipe, the metrics, the checkpoints and the record of a training."""

    folder: RunFolder

    @property
    def path(self) -> Path:
        """Folder of the run."""
        return self.folder.path

    @property
    def player(self) -> str:
        """Name of its best model as a player; `@LABEL` after it names another, as in `run:PATH@start`."""
        return f"run:{self.path}"

    @property
    def state(self) -> str:
        """State of the run: running, finished, failed or interrupted."""
        return self.folder.status().state

    @cached_property
    def curves(self) -> dict[str, Curve]:
        """Metrics by name; steps are counted from the end of SFT, except for those of SFT."""
        return dict(RunData(self.folder).curves)

    def rows(self) -> list[Json]:
        """Return one row for each value of each metric."""
        return [
            {"metric": name, "step": step, "value": value}
            for name, curve in self.curves.items()
            for step, value in zip(*curve, strict=True)
        ]

    def to_json(self) -> Json:
        """Return the status and the figures of the summary, as `stratagem train --json` prints them."""
        names = {"run": self.folder.name, "path": str(self.path)}
        return {**names, **status_of(self.folder), "figures": summary_of(self.folder)}

    def tables(self) -> list[ResultTable]:
        rows = [(name, *figures.values()) for name, figures in summary_of(self.folder).items()]
        columns = columns_of("metric", *map(Numbers, ("first", "last", "best checkpoint")))
        summary = text_table(f"{self.path}: {self.state}", columns, rows)
        return [*headline_tables(headlines(RunData(self.folder))), summary]

    def remarks(self) -> list[str]:
        """Name the chosen checkpoint, whose label counts the steps of SFT while the tables do not."""
        data = RunData(self.folder)
        if not data.chosen_label:
            return []
        label = f"{self.player}@{data.chosen_label}"
        return [f"Checkpoints are named by all steps, those of SFT included: step {data.chosen_step} is {label}."]

    @one_sentence
    def plot(self, *metrics: str) -> Figure:
        """Draw metrics over the steps of training, by default those of the summary."""
        known, named = self.curves, tuple(map(present_metric, metrics))
        for name in named:
            if name not in known:
                raise UnknownName("metric of this run", name, known)
        wanted = named or tuple(summary_of(self.folder))
        return lines(self.folder.name, "step", {name: (known[name].steps, known[name].values) for name in wanted})

    @one_sentence
    def report(self, path: str | Path | None = None) -> Path:
        """Write the report as an HTML page, by default into the folder, and return its path."""
        from stratagem.show.reports.report import write_report

        return write_report(self.folder, None if path is None else as_path(path, "file"))


@one_sentence
def load_run(path: str | Path | Run) -> Run:
    """Open the run in a folder, finished or not.

    Args:
        path: Folder of the run.
    """
    if isinstance(path, Run):
        return path
    if not isinstance(path, str | Path):
        raise WrongKind("run", "the path of its folder, or a Run", path)
    run = RunFolder.open(Path(path))
    run.info()  # raises where it is damaged
    return Run(run)


def summary_of(run: RunFolder) -> dict[str, dict[str, float | None]]:
    """By metric the first and the last value, and that at the best checkpoint; SFT has none."""
    data = RunData(run)
    return {
        name: {
            "first": values[0],
            "last": values[-1],
            "best": None if name.startswith(SFT_PREFIXES) else dict(zip(steps, values, strict=True)).get(_best(data)),
        }
        for name, (steps, values) in data.curves.items()
        if name.partition("/")[2] in _KEY and f"{name.removesuffix('/payoff')}/validation/payoff" not in data.curves
    }


def _best(data: RunData) -> int:
    """Step of the best checkpoint, counted from the end of SFT; -1 where there is none."""
    return -1 if data.chosen_step is None else data.chosen_step
