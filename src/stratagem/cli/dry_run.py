"""`stratagem train --dry-run`: the resolved recipe, and an estimate of the memory and the time of its run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from stratagem.cli.console import out
from stratagem.cli.output import print_json, print_table
from stratagem.cli.parameters import as_options
from stratagem.consent.needs import Kind, Need

if TYPE_CHECKING:
    from stratagem.api.dry_runs import DryRun


def print_dry_run(result: DryRun, *, json: bool) -> None:
    """Print the recipe with every setting, and the estimate; as JSON, the estimate is the table `estimate`."""
    if json:
        print_json(result.to_json())
        return
    print_needs(result.needs)
    out.print(result.toml, markup=False, highlight=False)
    for grid in result.tables() if result.estimate else ():
        print_table(grid)
    for line in result.remarks():
        out.print(as_options(line), markup=False, highlight=False)


def print_needs(needs: Mapping[Need, bool]) -> None:
    """Print what the recipe would run, contact, read and hand over, before anything of it is used."""
    lines = {
        f"  {need.phrase} ({need.place}){'' if allowed else ': not allowed yet'}": None
        for need, allowed in needs.items()
    }
    if any(need.kind is Kind.HOST for need in needs):
        lines["  spend what these servers charge, up to --budget where it is given"] = None
    head = "Besides its training this recipe would" if lines else "The recipe runs no file and no command, contacts no"
    out.print(head + ("" if lines else " server, and names no path outside its folder."), markup=False, highlight=False)
    for line in lines:
        out.print(line, markup=False, highlight=False)
