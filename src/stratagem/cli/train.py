"""`stratagem train`: from a recipe to a run."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from stratagem.cli import options
from stratagem.cli.console import errors, out
from stratagem.cli.dry_run import print_dry_run
from stratagem.cli.output import number, print_json, table
from stratagem.cli.runs import RUNS, status_of
from stratagem.errors import BadParameter
from stratagem.reports.run_data import SFT_PREFIXES, RunData
from stratagem.runs.folder import RunFolder
from stratagem.runs.resume import resume_by_force
from stratagem.training.shipped import recipe_path

if TYPE_CHECKING:
    from stratagem.training.recipe_file import AnyRecipe


def train(
    recipes: Annotated[
        list[str],
        typer.Argument(
            help="Recipes, by path or by a name of `stratagem recipes`; a later one overrides an earlier one. With "
            "--resume, the folder of a run.",
        ),
    ],
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="Setting to change, such as sepo.exploitability_weight=3. Repeatable."),
    ] = None,
    into: Annotated[Path | None, typer.Option("--out", help="Folder of the run; by default runs/NAMES-SEED.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a stopped run.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first fault that a check of training finds.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="With --resume: accept a changed recipe, or start again if all checkpoints are missing."
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print the resolved recipe, estimate memory and tokens, and exit."),
    ] = False,
    decode_speed: Annotated[
        float, typer.Option("--decode-speed", min=0.0, help="With --dry-run: sampled tokens a second, for the time.")
    ] = 0.0,
    learn_speed: Annotated[
        float, typer.Option("--learn-speed", min=0.0, help="With --dry-run: tokens a second of training, for the time.")
    ] = 0.0,
    allow_host: options.AllowHost = None,
    allow_file: options.AllowFile = None,
    workers: options.Workers = None,
    ray: options.Ray = None,
    timeout: options.Timeout = None,
    tries: options.Tries = None,
    concurrency: options.Concurrency = None,
    max_failures: options.MaxFailures = None,
    json: options.Json = False,
) -> None:
    """Train a model by one or more recipes; continue a stopped run with --resume."""
    from stratagem.algorithms.catalogue import read_any

    if force and not resume:
        raise BadParameter("--force continues a started run: add --resume.")
    if resume:
        run, recipe = _stopped_run(recipes, changes, force=force)
    else:
        paths = [recipe_path(name) for name in recipes]
        recipe = read_any(paths, dict(map(_change, changes or ())))
        if dry_run:
            print_dry_run(recipe, decode_speed, learn_speed, json=json)
            return
        run = _new_run(into or RUNS / "-".join([*(path.stem for path in paths), str(recipe.seed)]), recipe)
    _train(run, recipe, strict=strict)
    if json:
        print_json(_summary_data(run))
    else:
        _print_summary(run)


def _stopped_run(recipes: Sequence[str], changes: Sequence[str] | None, *, force: bool) -> tuple[RunFolder, AnyRecipe]:
    """Return the run to continue, and its recipe."""
    from stratagem.algorithms.catalogue import recipe_of

    if changes:
        raise BadParameter("A run continues with its own settings: leave --set out.")
    if len(recipes) > 1:
        raise BadParameter("A run continues with its own recipe: give its folder alone.")
    run = RunFolder.open(Path(recipes[0]))
    if force:
        resume_by_force(run)
    return run, recipe_of(run)


def _new_run(folder: Path, recipe: AnyRecipe) -> RunFolder:
    """Make the folder of a run; a recipe that cannot be trained is refused before the folder exists."""
    from stratagem.algorithms.catalogue import bound

    bound(recipe, RunFolder(folder))
    return RunFolder.create(folder, recipe, recipe.seed, " ".join(["stratagem", *sys.argv[1:]]))


def _train(run: RunFolder, recipe: AnyRecipe, *, strict: bool) -> None:
    """Train under a progress bar."""
    from stratagem.algorithms.catalogue import bound

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task(run.name, total=None)

        def show_progress(step: int, steps: int, figures: Mapping[str, float]) -> None:
            shown = ", ".join(f"{name} {value:.3f}" for name, value in _shown(figures).items())
            bar.update(task, completed=step, total=steps, description=f"{run.name}: {shown}")

        bound(recipe, run, strict=strict).train(show_progress)


_SHOWN = ("loss", "pay", "exploitability", "checkpoint_metric")
"""Metrics of the progress bar, by the last part of their names."""
_KEY = ("pay", "validation/exploit", "validation/safety", "exact/exploitability", "loss")
"""Metrics of the summary, for each game or stage."""


def _change(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise BadParameter(f"--set {text} changes nothing: write it as --set sepo.exploitability_weight=3.")
    return key.strip(), value.strip()


def _shown(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the metrics of the progress bar; where several share a last part, with their full names."""
    parts = [(name, name.rpartition("/")[2], value) for name, value in figures.items()]
    counted = Counter(last for _, last, _ in parts)
    chosen = [(last if counted[last] == 1 else name, last, value) for name, last, value in parts if last in _SHOWN]
    return {name: value for name, last, value in sorted(chosen, key=lambda entry: _SHOWN.index(entry[1]))}


def _summary_data(run: RunFolder) -> dict[str, Any]:
    """Summarise the run: the figures at its start, at its end, and at the chosen checkpoint."""
    return {"run": run.name, "path": str(run.path), **status_of(run), "figures": _figures(run)}


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


def _print_summary(run: RunFolder) -> None:
    grid = table(f"{run.path}", "metric", "first", "last", "best checkpoint")
    for name, figures in _figures(run).items():
        grid.add_row(name, *("–" if value is None else number(value) for value in figures.values()))
    out.print(grid)
    out.print(f"stratagem report {run.path}", style="bold", highlight=False, markup=False)
