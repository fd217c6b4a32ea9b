"""`stratagem data`: demonstration data sets of algorithms, as files that any trainer reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from stratagem.cli import completion, options
from stratagem.cli.console import out
from stratagem.cli.output import number, print_json, progress, table, write_json
from stratagem.demonstrations.files import write_sets
from stratagem.demonstrations.sets import PUBLISHED, SETS, Plan
from stratagem.errors import StratagemError, UnknownName

ALGORITHMS = ("sepo",)
"""Algorithms with data sets of demonstrations."""


def write_data(
    algorithm: Annotated[str, typer.Argument(help=f"Algorithm: {', '.join(ALGORITHMS)}.")],
    folder: Annotated[Path, typer.Option("--out", help="New or empty folder for the sets.")],
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help=f"Set: {', '.join(SETS)}. Repeatable; by default {', '.join(PUBLISHED)}, as published."
        ),
    ] = None,
    seed: options.Seed = 42,
    style: Annotated[
        str,
        typer.Option(
            help="Prompt style; a style without reasoning has the action alone.", autocompletion=completion.styles
        ),
    ] = ("reasoned"),
    scale: Annotated[float, typer.Option(help="Size, as a multiple of the published size.")] = 1.0,
    json: options.Json = False,
) -> None:
    """Write demonstrations of scripted players, as data for SFT."""
    if algorithm not in ALGORITHMS:
        raise UnknownName("algorithm with data sets", algorithm, ALGORITHMS)
    plan = Plan(sets=tuple(sets or PUBLISHED), seed=seed, style=style, scale=scale)
    _check_empty(folder)
    with progress(plan.total, quiet=json) as step:
        manifest = _written(plan, folder, step)
    if json:
        print_json(manifest)
        return
    out.print(_listing(manifest, folder))
    for line in _remarks(manifest):
        out.print(line, highlight=False, markup=False)


def _check_empty(folder: Path) -> None:
    """Refuse a folder that is not empty: sets of two runs are not to be mixed."""
    try:
        if folder.exists() and any(folder.iterdir()):
            raise StratagemError(f"{folder} already holds files: choose another folder.")
    except OSError as error:
        raise StratagemError(f"{folder} cannot be used as a folder: {error.strerror}.") from error


def _written(plan: Plan, folder: Path, step: Callable[[str], None]) -> dict[str, Any]:
    try:
        manifest = write_sets(plan, folder, step)
    except OSError as error:
        raise StratagemError(f"{folder} cannot be written: {error.strerror}.") from error
    write_json(manifest, folder / "manifest.json")
    return manifest


def _listing(manifest: dict[str, Any], folder: Path) -> Table:
    """Return a row for every game of every set."""
    title = f"{folder}   seed {manifest['seed']}, style {manifest['style']}"
    columns = "set", "game", "train", "validation", "repeated", "episodes", "characters", "longest"
    grid = table(title, *columns)
    grid.columns[1].justify = "left"
    for name, entry in manifest["sets"].items():
        for game, row in entry["games"].items():
            lengths = row["reply_characters"]
            episodes = row["episodes_per_opponent"] * len(row["opponents"])
            counts = row["train"], row["validation"], row["repeated"], episodes
            grid.add_row(
                Text(name), Text(game), *map(str, counts), number(lengths["median"], 0), str(lengths["longest"])
            )
    return grid


def _remarks(manifest: dict[str, Any]) -> list[str]:
    """Explain columns that are not plain, and how to read the files."""
    repeated = any(row["repeated"] for entry in manifest["sets"].values() for row in entry["games"].values())
    repetitions = [
        "repeated: examples with the decision of another example, where there are fewer decisions than examples."
    ]
    return [
        *(repetitions if repeated else []),
        "characters, longest: median and maximum length of a reply. manifest.json lists the files with their digests.",
    ]
