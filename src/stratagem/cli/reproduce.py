"""`stratagem reproduce`: the tables of the four papers, their runs, and their printed figures beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stratagem.api.reproductions import reproduce as reproduce_table
from stratagem.cli import options
from stratagem.cli.broken_off import resumable
from stratagem.cli.output import print_result
from stratagem.reproduction.published import MOST_SEEDS, ScaleName


@options.with_options(options.WORK, options.SERVERS)
def reproduce(
    table: Annotated[
        str, typer.Argument(help="PAPER:TABLE as in sepo:5, or PAPER for all its tables. Without it, all are listed.")
    ] = "",
    scale: Annotated[
        ScaleName, typer.Option(help="tiny: a model of a million weights. cpu: a small model. gpu: the paper's own.")
    ] = "tiny",
    model: Annotated[str, typer.Option(help="Model in place of the scale's.")] = "",
    seeds: Annotated[
        int, typer.Option(min=0, max=MOST_SEEDS, help="Number of seeds; by default the paper's, and 3 at least.")
    ] = 0,
    hours: Annotated[
        float, typer.Option(min=0.0, help="Hours after which no further run is begun; 0 has no limit.")
    ] = 0.0,
    into: Annotated[
        Path | None, typer.Option("--out", help="Folder of all reproductions; by default runs/papers.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan, and run nothing.")] = False,
    any_tree: Annotated[bool, typer.Option("--any-tree", help="Permit uncommitted changes of the program.")] = False,
    json: options.Json = False,
) -> None:
    """Make the runs of a published table, and print its figures beside theirs. An interrupted one can be resumed.

    The status is 1 if a figure is outside of a range that the table's file gives, and 2 if a run failed.
    """
    with resumable("The same command goes on with the runs."):
        found = reproduce_table(
            table,
            scale=scale,
            model=model,
            seeds=seeds,
            hours=hours,
            out=into,
            dry_run=dry_run,
            any_tree=any_tree,
        )
    print_result(found, json=json)
    if getattr(found, "failed", ()):
        raise typer.Exit(2)
    if getattr(found, "outside", ()):
        raise typer.Exit(1)
