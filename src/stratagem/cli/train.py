"""`stratagem train`: from a recipe to a run."""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from stratagem.cli import options
from stratagem.cli.console import errors, out
from stratagem.cli.output import number, print_json, table
from stratagem.cli.runs import RUNS, standing
from stratagem.errors import BadParameter
from stratagem.reports.run_data import SFT_PREFIXES, RunData
from stratagem.runs.config_file import settings_toml
from stratagem.runs.folder import RunFolder
from stratagem.runs.resume import resume_by_force
from stratagem.training.shipped import recipe_path


def train(
    recipes: Annotated[
        list[str],
        typer.Argument(
            help="Recipes, by path or by a name of `stratagem recipes`, a later one over an earlier; with --resume, "
            "the folder of a run.",
        ),
    ],
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="A setting to change, as sepo.exploitability_weight=3.")
    ] = None,
    into: Annotated[Path | None, typer.Option("--out", help="The run's folder; by default runs/NAMES-SEED.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run where it stopped.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at what a check of the training finds.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="With --resume: take the run's recipe as it is now, or begin it again.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the resolved recipe and do nothing.")] = False,
    allow_host: options.AllowHost = None,
    timeout: options.Timeout = None,
    tries: options.Tries = None,
    concurrency: options.Concurrency = None,
    max_failures: options.MaxFailures = None,
    json: options.Json = False,
) -> None:
    """Train by a recipe, or by several as one; a run that was stopped goes on with --resume."""
    from stratagem.algorithms.catalogue import bound, read_any, recipe_of

    if force and not resume:
        raise BadParameter("--force goes on with a run that was begun: add --resume.")
    if resume:
        if changes:
            raise BadParameter("A run goes on with the settings that it began with: leave --set out.")
        if len(recipes) > 1:
            raise BadParameter("A run goes on with the recipe that it began with: give its folder alone.")
        run = RunFolder.open(Path(recipes[0]))
        if force:
            resume_by_force(run)
        made = recipe_of(run)
    else:
        paths = [recipe_path(name) for name in recipes]
        made = read_any(paths, dict(map(_change, changes or ())))
        if dry_run:
            settings = settings_toml(made)
            print_json(tomllib.loads(settings)) if json else out.print(settings, markup=False, highlight=False)
            return
        folder = into or RUNS / "-".join([*(path.stem for path in paths), str(made.seed)])
        bound(made, RunFolder(folder))  # which refuses what cannot be trained, before there is a folder
        run = RunFolder.create(folder, made, made.seed, " ".join(["stratagem", *sys.argv[1:]]))
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task(run.name, total=None)

        def tell(step: int, steps: int, figures: Mapping[str, float]) -> None:
            shown = ", ".join(f"{name} {value:.3f}" for name, value in _told(figures).items())
            bar.update(task, completed=step, total=steps, description=f"{run.name}: {shown}")

        bound(made, run, strict=strict).train(tell)
    if json:
        print_json(_summed_up(run))
    else:
        _summary(run)


_TOLD = ("loss", "pay", "exploitability", "checkpoint_metric")
"""Figures of the progress bar, by the last part of a metric's name."""
_KEY = ("pay", "validation/exploit", "validation/safety", "exact/exploitability", "loss")
"""Figure of the summary for each game or stage."""


def _change(text: str) -> tuple[str, str]:
    place, equals, value = text.partition("=")
    if not equals or not place:
        raise BadParameter(f"--set {text} changes nothing: write it as --set sepo.exploitability_weight=3.")
    return place.strip(), value.strip()


def _told(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the few figures that the bar has room for; a name that several share is given in full."""
    parts = [(name, name.rpartition("/")[2], value) for name, value in figures.items()]
    counted = Counter(last for _, last, _ in parts)
    chosen = [(last if counted[last] == 1 else name, last, value) for name, last, value in parts if last in _TOLD]
    return {name: value for name, last, value in sorted(chosen, key=lambda entry: _TOLD.index(entry[1]))}


def _summed_up(run: RunFolder) -> dict[str, Any]:
    """Summarise the run: the figures at its start, at its end, and at the chosen checkpoint."""
    return {"run": run.name, "path": str(run.path), **standing(run), "figures": _figures(run)}


def _figures(run: RunFolder) -> dict[str, dict[str, float | None]]:
    """By metric the first and the last value, and that at the best checkpoint; SFT has none."""
    data = RunData(run)
    return {
        name: {
            "first": values[0],
            "last": values[-1],
            "best": None if name.startswith(SFT_PREFIXES) else dict(zip(steps, values, strict=True)).get(_best(data)),
        }
        for name, (steps, values) in data.curves.items()
        if name.partition("/")[2] in _KEY
    }


def _best(data: RunData) -> int:
    """Step of the best checkpoint, counted from the end of SFT; -1 where there is none."""
    return -1 if data.chosen_step is None else data.chosen_step


def _summary(run: RunFolder) -> None:
    made = table(f"{run.path}", "figure", "first", "last", "best checkpoint")
    for name, figures in _figures(run).items():
        made.add_row(name, *("–" if value is None else number(value) for value in figures.values()))
    out.print(made)
    out.print(f"stratagem report {run.path}", style="bold", highlight=False, markup=False)
