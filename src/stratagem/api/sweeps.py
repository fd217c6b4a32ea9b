"""Sweeps: `sweep` runs every arm with every seed, and tests the hypothesis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING

from stratagem.api.arguments import as_path, names_of
from stratagem.api.mistakes import one_sentence
from stratagem.api.pictures import bars
from stratagem.api.result import Plotted
from stratagem.api.serving import serving
from stratagem.consent.table import reading_files
from stratagem.errors import BadParameter
from stratagem.files import telling, write_file
from stratagem.games.base import Json
from stratagem.provenance import provenance
from stratagem.show.console import VisibleConsole
from stratagem.show.table import Numbers, Table, columns_of, text_table
from stratagem.training.shipped import recipe_path

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from stratagem.sweeps.comparison import Comparison

PAGE, DATA = "sweep.html", "comparison.json"

__all__ = ["SweepComparison", "sweep"]


@dataclass(frozen=True, repr=False)
class SweepComparison(Plotted):
    """Arms of a sweep over their seeds, and the test of every order that its hypothesis expects."""

    comparison: Comparison
    folder: Path

    @property
    def page(self) -> Path:
        """Page of the comparison, with the curves of all runs."""
        return self.folder / PAGE

    @property
    def verdict(self) -> str:
        """Verdict on the hypothesis: supported, contradicted, undecided, not run, or nothing expected."""
        return self.comparison.word

    def rows(self) -> list[Json]:
        """Return one row for each arm: the mean of the metric over its seeds, with its interval."""
        metric = self.comparison.plan.metric
        return [{"arm": arm.name, "metric": metric, **arm.estimate().to_json()} for arm in self.comparison.arms]

    def to_json(self) -> Json:
        """Return the comparison, as `stratagem sweep --json` prints it."""
        return {**self.comparison.data(), "made_by": provenance(), "page": str(self.page)}

    def tables(self) -> list[Table]:
        estimates = [(arm.name, arm.estimate()) for arm in self.comparison.arms]
        rows = [(name, one.mean, one.low, one.high, one.n) for name, one in estimates]
        columns = columns_of("arm", *map(Numbers, ("mean", "low", "high", "seeds")))
        return [text_table(self.comparison.plan.metric, columns, rows)]

    def remarks(self) -> list[str]:
        """Return the test of each expected order, the seeds that do not count, and the verdict."""
        found = self.comparison
        left_out = [text for arm in found.arms if (text := arm.left_out())]
        verdict = f"{found.plan.hypothesis} {found.word.capitalize()}."
        return [*(verdict.sentence() for verdict in found.verdicts), *left_out, verdict]

    def plot(self) -> Figure:
        """Draw the mean of each arm with its interval over seeds."""
        drawn = {
            arm.name: estimate for arm in self.comparison.arms if not math.isnan((estimate := arm.estimate()).mean)
        }
        return bars(self.comparison.plan.hypothesis, self.comparison.plan.metric, {"mean": drawn})


@one_sentence
def sweep(
    file: str | Path,
    *,
    out: str | Path | None = None,
    compare: bool = False,
    any_tree: bool = False,
    allow: str | Sequence[str] = (),
    workers: int | None = None,
    ray: str | None = None,
    progress: bool = True,
) -> SweepComparison:
    """Run every arm of a sweep with every seed, and test its hypothesis; the same call goes on with a stopped sweep.

    `file` is the sweep in TOML: hypothesis, arms, metric and expectation. `out` is the folder of the runs, by default
    runs/NAME. With `compare` the runs are compared as they are, and none is started. `any_tree` permits uncommitted
    changes of the program. `allow` is that of `train`. With `progress` each run is a line on
    the error stream.
    """
    path = recipe_path(str(as_path(file, "sweep")))
    folder = Path("runs") / path.stem if out is None else as_path(out, "folder")
    from stratagem.sweeps.comparison import compared
    from stratagem.sweeps.page import comparison_page
    from stratagem.sweeps.plan import planned, read_plan
    from stratagem.sweeps.runner import Sweep, check_metric, check_settings

    with reading_files(*names_of(allow, "permission")), serving(None, workers, ray):
        plan = read_plan(path)
        runs = list(planned(plan, path.parent))
        if compare and not any(run.existing(folder) for run in runs):
            raise BadParameter(
                f"There are no runs to compare in {folder}: name the folder of the sweep, or run it first."
            )
        if not compare:
            Sweep(path, plan, folder, any_tree=any_tree).run(_tell if progress else _be_silent)
        check_settings(runs, folder)
        check_metric(plan.metric, runs, folder)
        found = SweepComparison(compared(plan, folder), folder)
    with telling(folder):
        folder.mkdir(parents=True, exist_ok=True)
    stored = {name: value for name, value in found.to_json().items() if name != "page"}
    write_file(folder / DATA, dumps(stored, indent=1) + "\n")
    write_file(found.page, comparison_page(path.stem, found.comparison))
    return found


def _tell(message: str) -> None:
    VisibleConsole(stderr=True).print(message, highlight=False)


def _be_silent(message: str) -> None:
    """Print nothing."""
