"""Command line of the experiments: it makes the runs of a study in a folder, or lists their commands."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Collection, Iterable
from functools import partial
from pathlib import Path

from stratagem.base.errors import StratagemError
from stratagem.playing.workers.base import InProcess
from stratagem.playing.workers.plan import working
from stratagem.playing.workers.processes import Processes
from stratagem.playing.workers.threads import available_threads, use_threads
from stratagem.sweeps.planned_run import PlannedRun
from stratagem.sweeps.run_maker import make_runs


def seed_range(text: str) -> range:
    """Parse `N`, the first N seeds, or `FIRST-LAST`."""
    match = re.fullmatch(r"(?:(?P<first>\d+)-)?(?P<last>\d+)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number of seeds, as 5, nor a range, as 5-20")
    if match["first"] is None:
        return range(int(match["last"]))
    return range(int(match["first"]), int(match["last"]) + 1)


def command_line(
    doc: str | None, studies: Collection[str] = (), seeds: range | None = range(5)
) -> argparse.ArgumentParser:
    """Return the parser that all experiments share."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the runs")
    if studies:
        parser.add_argument("study", choices=studies)
    parser.add_argument("--only", nargs="+", default=[""], metavar="TEXT", help="runs whose names contain one of these")
    parser.add_argument("--seeds", type=seed_range, default=seeds, metavar="N", help="number of seeds, or FIRST-LAST")
    parser.add_argument("--workers", type=int, default=0, metavar="N", help="processes that make the runs, one a run")
    parser.add_argument("--list", action="store_true", help="print the commands and run nothing")
    return parser


def make(runs: Iterable[PlannedRun], folder: Path, num_workers: int = 0) -> dict[str, StratagemError]:
    """Make the runs that are not finished, with one thread each, and return the errors by name."""
    use_threads(1 if "OMP_NUM_THREADS" not in os.environ else available_threads())
    workers = Processes(num_workers, available_threads()) if num_workers else InProcess()
    with working(workers):
        return make_runs(runs, folder, partial(print, flush=True))


def run(runs: Iterable[PlannedRun], arguments: argparse.Namespace) -> None:
    """Make or list the chosen runs; the program ends with 1 if one of them failed."""
    chosen = (planned for planned in runs if any(text in planned.name for text in arguments.only))
    try:
        if arguments.list:
            for planned in chosen:
                print(planned.command(arguments.folder))
            return
        failed = make(chosen, arguments.folder, arguments.workers)
    except StratagemError as error:
        sys.exit(str(error))
    if failed:
        sys.exit(f"{len(failed)} failed: {', '.join(failed)}.")
