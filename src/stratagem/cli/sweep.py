"""`stratagem sweep`: from a hypothesis to runs, a comparison and a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stratagem.api.sweeps import sweep as run_sweep
from stratagem.cli import options
from stratagem.cli.broken_off import resumable
from stratagem.cli.console import out
from stratagem.cli.output import print_result


@options.with_options(options.WORK, options.SERVERS)
def sweep(
    file: Annotated[str, typer.Argument(help="Sweep in TOML: hypothesis, arms, metric and expectation.")],
    into: Annotated[Path | None, typer.Option("--out", help="Folder of the runs; by default runs/NAME.")] = None,
    compare: Annotated[bool, typer.Option("--compare", help="Compare the existing runs and start none.")] = False,
    any_tree: Annotated[bool, typer.Option("--any-tree", help="Permit uncommitted changes of the program.")] = False,
    json: options.Json = False,
) -> None:
    """Run every arm of a sweep with every seed, and test its hypothesis. An interrupted sweep can be resumed."""
    with resumable("The same command goes on with the sweep."):
        found = run_sweep(file, out=into, compare=compare, any_tree=any_tree)
    print_result(found, json=json)
    if not json:
        out.print(str(found.page), style="bold", markup=False, highlight=False)
