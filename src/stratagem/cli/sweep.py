"""`stratagem sweep`: from a hypothesis to runs, a comparison and a verdict."""

from __future__ import annotations

import math
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stratagem.cli import options
from stratagem.cli.console import errors, out
from stratagem.cli.output import number, print_json, table
from stratagem.files import telling, write_file
from stratagem.provenance import provenance
from stratagem.training.shipped import recipe_path

if TYPE_CHECKING:
    from stratagem.sweeps.comparison import Comparison
    from stratagem.sweeps.plan import Plan

PAGE, DATA = "sweep.html", "comparison.json"


def sweep(
    file: Annotated[str, typer.Argument(help="Sweep in TOML: hypothesis, arms, metric and expectation.")],
    into: Annotated[Path | None, typer.Option("--out", help="Folder of the runs; by default runs/NAME.")] = None,
    compare: Annotated[bool, typer.Option("--compare", help="Compare the existing runs and start none.")] = False,
    any_tree: Annotated[bool, typer.Option("--any-tree", help="Permit uncommitted changes of the program.")] = False,
    allow_host: options.AllowHost = None,
    workers: options.Workers = None,
    ray: options.Ray = None,
    timeout: options.Timeout = None,
    tries: options.Tries = None,
    concurrency: options.Concurrency = None,
    max_failures: options.MaxFailures = None,
    budget: options.Budget = None,
    prices: options.PriceList = None,
    json: options.Json = False,
) -> None:
    """Run every arm of a sweep with every seed, and test its hypothesis. An interrupted sweep can be resumed."""
    from stratagem.sweeps.comparison import compared
    from stratagem.sweeps.page import comparison_page
    from stratagem.sweeps.plan import planned, read_plan
    from stratagem.sweeps.runner import Sweep, check_metric, check_settings

    path = recipe_path(file)
    plan, folder = read_plan(path), into or Path("runs") / path.stem
    if not compare:
        report = lambda message: errors.print(message, markup=False, highlight=False)  # noqa: E731
        Sweep(path, plan, folder, any_tree=any_tree).run(report)
    runs = list(planned(plan, path.parent))
    check_settings(runs, folder)
    check_metric(plan.metric, runs, folder)
    comparison = compared(plan, folder)
    with telling(folder):
        folder.mkdir(parents=True, exist_ok=True)
    data = {**comparison.data(), "made_by": provenance()}
    write_file(folder / DATA, dumps(data, indent=1) + "\n")
    write_file(folder / PAGE, comparison_page(path.stem, comparison))
    if json:
        print_json({**data, "page": str(folder / PAGE)})
    else:
        _print(plan, comparison, folder)


def _print(plan: Plan, comparison: Comparison, folder: Path) -> None:
    """Print every arm with its interval, the verdicts, and the path of the page."""
    grid = table(plan.metric, "arm", "mean", "low", "high", "seeds")
    for arm in comparison.arms:
        estimate = arm.estimate()
        grid.add_row(arm.name, *map(_number, (estimate.mean, estimate.low, estimate.high)), str(estimate.n))
    out.print(grid)
    for verdict in comparison.verdicts:
        out.print(verdict.sentence(), markup=False, highlight=False)
    for message in filter(None, (arm.left_out() for arm in comparison.arms)):
        out.print(message, markup=False, highlight=False)
    out.print(f"{plan.hypothesis} {comparison.word.capitalize()}.", markup=False, highlight=False)
    out.print(str(folder / PAGE), style="bold", markup=False, highlight=False)


def _number(value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else number(value)
