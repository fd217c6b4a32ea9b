"""`stratagem train --dry-run`: the resolved recipe, and an estimate of the memory and the time of its run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stratagem.cli.console import out
from stratagem.cli.output import print_grid, print_json
from stratagem.cli.parameters import as_options

if TYPE_CHECKING:
    from stratagem.api.dry_runs import DryRun


def print_dry_run(result: DryRun, *, json: bool) -> None:
    """Print the recipe with every setting, and the estimate; as JSON, the estimate is the table `estimate`."""
    if json:
        print_json(result.to_json())
        return
    out.print(result.toml, markup=False, highlight=False)
    for grid in result.grids() if result.estimate else ():
        print_grid(grid)
    for line in result.remarks():
        out.print(as_options(line), markup=False, highlight=False)
