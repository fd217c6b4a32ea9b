"""`stratagem train`: training by recipes, of new and of stopped runs, and what a run would take."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from stratagem.api.dry_runs import DryRun, needs_now
from stratagem.api.runs import Run
from stratagem.base.consent.needs import Need, NeedKind
from stratagem.base.errors import StratagemError
from stratagem.cli.call import CommandCall
from stratagem.cli.console import out
from stratagem.cli.output import print_json, print_result, print_table
from stratagem.cli.parameters import as_options
from stratagem.training.runs.trackers.tracks import track_urls


def show_training(call: CommandCall) -> None:
    """Train, or estimate what a run would take, and print a summary."""
    try:
        result = call.carry_out()
    except StratagemError:
        # So that one sees what a recipe asks for before one allows it; of one that could not be read nothing is known.
        if call.function.__name__ == "dry_run" and (needs := needs_now()):
            _print_needs(needs)
        raise
    if call.json:
        print_json(result.to_json())
    elif isinstance(result, DryRun):
        _print_dry_run(result)
    else:
        _print_summary(result)


def _print_summary(run: Run) -> None:
    print_result(run, json=False)
    for name, url in track_urls(run.folder).items():
        out.print(f"{name}: {url}", highlight=False, markup=False)
    out.print(f"stratagem report {shlex.quote(str(run.path))}", style="bold", highlight=False, markup=False)


def _print_dry_run(result: DryRun) -> None:
    """Print the recipe with every setting, and the estimate."""
    _print_needs(result.needs)
    out.print(result.toml, markup=False, highlight=False)
    for grid in result.tables() if result.estimate else ():
        print_table(grid)
    for line in result.remarks():
        out.print(as_options(line), markup=False, highlight=False)


def _print_needs(needs: Mapping[Need, bool]) -> None:
    """Print what the recipe would run, contact, read and hand over, before anything of it is used."""
    lines = {
        f"  {need.phrase} ({need.place}){'' if allowed else ': not allowed yet'}": None
        for need, allowed in needs.items()
    }
    if any(need.kind is NeedKind.HOST for need in needs):
        lines["  spend what these servers charge, up to --budget where it is given"] = None
    head = "Besides its training this recipe would" if lines else "The recipe runs no file and no command, contacts no"
    out.print(head + ("" if lines else " server, and names no path outside its folder."), markup=False, highlight=False)
    for line in lines:
        out.print(line, markup=False, highlight=False)
