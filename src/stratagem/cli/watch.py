"""`stratagem watch`: a run in the terminal as it goes on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.live import Live

from stratagem.cli import options
from stratagem.cli.console import out
from stratagem.cli.output import print_json
from stratagem.cli.run_panel import Snapshot, changed_lines, panel, snapshot
from stratagem.runs.folder import RunFolder

FAILED = 1
"""Exit status where the run has failed."""


def watch(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    once: Annotated[bool, typer.Option("--once", help="Print the run as it is now, and end.")] = False,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between two looks at the files.")] = 1.0,
    json: options.Json = False,
) -> None:
    """Watch a run until it ends: its step, its main figures, its curves and its checks."""
    run = RunFolder.open(folder)
    run.info()  # raises where it is damaged
    with suppress(KeyboardInterrupt):
        last = _follow(_looks(run, every, once=once), live=out.is_terminal and not json and not once, json=json)
        if last.state == "failed":
            raise typer.Exit(FAILED)


def _looks(run: RunFolder, every: float, *, once: bool) -> Iterator[Snapshot]:
    """Yield the run as it is, until it no longer runs."""
    while True:
        now = snapshot(run)
        yield now
        if once or now.state != "running":
            return
        time.sleep(every)


def _follow(looks: Iterator[Snapshot], *, live: bool, json: bool) -> Snapshot:
    """Show each look at the run, and return the last: drawn in place, or as lines about what is new."""
    before, now = None, next(looks)
    if live:
        try:
            with Live(panel(now), console=out, auto_refresh=False, transient=True) as screen:
                for now in looks:
                    screen.update(panel(now), refresh=True)
        finally:
            out.print(panel(now), highlight=False)
        return now
    while True:
        if json and now != before:
            print_json(now.to_json())
        elif not json:
            for line in changed_lines(before, now):
                out.print(line, highlight=False, markup=False)
        before = now
        try:
            now = next(looks)
        except StopIteration:
            return before
