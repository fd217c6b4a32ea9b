"""`stratagem train` and `stratagem runs`: from a recipe to a run, and the runs that there are."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from stratagem.cli import options
from stratagem.cli.console import errors, out
from stratagem.cli.output import number, table
from stratagem.errors import BadParameter, StratagemError
from stratagem.runs.checkpoint import latest
from stratagem.runs.config_file import settings_toml
from stratagem.runs.folder import RunFolder, find_runs
from stratagem.runs.metrics import read_metrics
from stratagem.runs.resume import resume_by_force

RUNS = Path("runs")


def train(
    recipe: Annotated[Path, typer.Argument(help="A recipe in TOML, or, with --resume, the folder of a run.")],
    changes: Annotated[list[str] | None, typer.Option("--set", help="A setting to change, as sepo.alpha=3.")] = None,
    into: Annotated[Path | None, typer.Option("--out", help="The run's folder; by default runs/NAME-SEED.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run where it stopped.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at what a check of the training finds.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="With --resume: take the run's recipe as it is now, or begin it again.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the resolved recipe and do nothing.")] = False,
    allow_host: options.AllowHost = None,
) -> None:
    """Train by a recipe; a run that was stopped goes on with --resume."""
    from stratagem.algorithms.catalogue import read_any, recipe_of, trainer_of

    if force and not resume:
        raise BadParameter("--force goes on with a run that was begun: add --resume.")
    if resume:
        if changes:
            raise BadParameter("A run goes on with the settings that it began with: leave --set out.")
        run = RunFolder.open(recipe)
        if force:
            resume_by_force(run)
        made = recipe_of(run)
    else:
        made = read_any(recipe, dict(map(_change, changes or ())))
        if dry_run:
            out.print(settings_toml(made), markup=False, highlight=False)
            return
        folder = into or RUNS / f"{recipe.stem}-{made.seed}"
        trainer_of(made, RunFolder(folder))  # which refuses what cannot be trained, before there is a folder
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

        trainer_of(made, run, tell, strict=strict).train()
    _summary(run)


_TOLD = ("loss", "pay", "exploitability", "select")
"""What the progress bar tells, by the last part of a figure's name."""
_KEY = ("pay", "validation/exploit", "validation/safety", "exact/exploitability", "loss")
"""What is summed up at the end, of each game or stage."""


def _change(text: str) -> tuple[str, str]:
    place, equals, value = text.partition("=")
    if not equals or not place:
        raise BadParameter(f"--set {text} changes nothing: write it as --set sepo.alpha=3.")
    return place.strip(), value.strip()


def _told(figures: Mapping[str, float]) -> dict[str, float]:
    """The few that the bar has room for; what several have in common is told by its whole name."""
    found = [(name, name.rpartition("/")[2], value) for name, value in figures.items()]
    counted = Counter(last for _, last, _ in found)
    told = [(last if counted[last] == 1 else name, last, value) for name, last, value in found if last in _TOLD]
    return {name: value for name, last, value in sorted(told, key=lambda one: _TOLD.index(one[1]))}


def _summary(run: RunFolder) -> None:
    """Where what counts began, ended, and stood at the checkpoint that is chosen."""
    curves, best = read_metrics(run), _best(run)
    made = table(f"{run.path}", "figure", "first", "last", "best checkpoint")
    for name, (steps, values) in curves.items():
        if name.partition("/")[2] in _KEY:
            chosen = number(values[steps.index(best)]) if best in steps else "–"
            made.add_row(name, number(values[0]), number(values[-1]), chosen)
    out.print(made)
    out.print(f"stratagem report {run.path}", style="bold", highlight=False, markup=False)


def _best(run: RunFolder) -> int | None:
    newest = latest(run, digests=False)
    return max(newest.best, default=None) if newest else None


def runs(folder: Annotated[Path, typer.Argument(help="Where the runs lie.")] = RUNS) -> None:
    """List the runs in a folder: how each stands, and its newest figures."""
    made = table(f"Runs in {folder}", "run", "state", "since", "step", "best", "exploitability", numbers=False)
    damaged = list[str]()
    for run in find_runs(folder):
        try:
            made.add_row(Text(run.name), *_standing(run))
        except StratagemError as error:
            made.add_row(Text(run.name), "damaged")
            damaged.append(str(error))
    out.print(made)
    for sentence in damaged:
        errors.print(sentence, highlight=False, markup=False)


def _standing(run: RunFolder) -> Iterator[str]:
    """How a run stands, since when, at which step, its best step, and its newest exact figures."""
    status, curves, best = run.status(), read_metrics(run), _best(run)
    exact = [curve.values[-1] for name, curve in curves.items() if name.endswith("exact/exploitability")]
    yield from (status.state, status.since, str(max((steps[-1] for steps, _ in curves.values()), default=0)))
    yield from ("" if best is None else str(best), ", ".join(map(number, exact)))
