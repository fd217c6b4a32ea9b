"""Sweeps: `sweep` runs every arm with every seed, and tests the hypothesis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING

from stratagem.api.arguments import as_path, names_of
from stratagem.api.mistakes import one_sentence
from stratagem.api.result import PlottedResult
from stratagem.api.serving import serving
from stratagem.api.stopped import going_on
from stratagem.base.consent.table import reading_files
from stratagem.base.errors import BadParameter
from stratagem.base.files import telling, write_file
from stratagem.base.provenance import provenance
from stratagem.games.base import Json
from stratagem.measure.figures.training import metric_figure
from stratagem.show.console import VisibleConsole
from stratagem.show.table import Numbers, ResultTable, text_table
from stratagem.training.shipped import recipe_path

if TYPE_CHECKING:
    from stratagem.sweeps.comparison import ArmsComparison

PAGE, DATA = "sweep.html", "comparison.json"

__all__ = ["SweepComparison", "sweep"]


@dataclass(frozen=True, repr=False)
class SweepComparison(PlottedResult):
    """Arms of a sweep over their seeds, and the test of every order that its hypothesis expects."""

    comparison: ArmsComparison
    folder: Path

    @property
    def page(self) -> Path:
        """Page of the comparison, with the curves of all runs."""
        return self.folder / PAGE

    @property
    def files(self) -> list[Path]:
        """The page."""
        return [self.page]

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

    def tables(self) -> list[ResultTable]:
        metric = metric_figure(self.comparison.plan.metric)
        rows = [(arm.name, (one := arm.estimate()), one.n) for arm in self.comparison.arms]
        return [text_table(self.comparison.plan.metric, ("arm", metric, Numbers("seeds")), rows)]

    def remarks(self) -> list[str]:
        """Return the test of each expected order, the seeds that do not count, and the verdict."""
        found = self.comparison
        left_out = [text for arm in found.arms if (text := arm.left_out())]
        verdict = f"{found.plan.hypothesis} {found.word.capitalize()}."
        return [*(verdict.sentence() for verdict in found.verdicts), *left_out, verdict]


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
    """Run every arm of a sweep with every seed, and test its hypothesis; the same call goes on with it.

    Args:
        file: Sweep in TOML: hypothesis, arms, metric and expectation.
        out: Folder of the runs; by default runs/NAME.
        compare: True to compare the existing runs and start none.
        any_tree: True to permit uncommitted changes of the program.
        allow: Single things that a recipe may use although its folder is not trusted: a Python file, a command
            `cmd:...`, or a server as HOST or HOST:PORT.
        workers: Number of processes that share the work; with `ray=`, of workers on the cluster.
        ray: Ray cluster for the work: its address, `auto`, or `local` for a new one here.
        progress: True to print a line for each run on the error stream.
    """
    path = recipe_path(str(as_path(file, "sweep")))
    folder = Path("runs") / path.stem if out is None else as_path(out, "folder")
    from stratagem.show.reports.sweep_page import comparison_page
    from stratagem.sweeps.comparison import compare_runs
    from stratagem.sweeps.plan import plan_runs, read_plan
    from stratagem.sweeps.runner import Sweep, check_metric, check_settings

    with reading_files(*names_of(allow, "permission")), serving(None, workers, ray):
        plan = read_plan(path)
        runs = list(plan_runs(plan, path.parent))
        if compare and not any(run.existing(folder) for run in runs):
            raise BadParameter(
                f"There are no runs to compare in {folder}: name the folder of the sweep, or run it first."
            )
        if not compare:
            with going_on("The same call goes on with the sweep."):
                Sweep(path, plan, folder, any_tree=any_tree).run(_tell if progress else _be_silent)
        check_settings(runs, folder)
        check_metric(plan.metric, runs, folder)
        found = SweepComparison(compare_runs(plan, folder), folder)
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
