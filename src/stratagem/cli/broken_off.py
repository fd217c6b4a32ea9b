"""Interruptible commands: ^C and SIGTERM print the results so far, and how to continue."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

import typer

from stratagem.api.evaluations import Evaluation
from stratagem.api.plans import Plan
from stratagem.api.play_settings import PlaySettings
from stratagem.cli.console import errors
from stratagem.cli.interrupts import Terminated, terminable
from stratagem.cli.output import progress
from stratagem.engines.remote.budget import BudgetSpent
from stratagem.engines.remote.terms import ServerFailed
from stratagem.evaluation.resumable import ResumableRecord
from stratagem.play.records import Episode

R = TypeVar("R")
S = TypeVar("S", bound=PlaySettings)


def played(plan: Plan[S, R, Evaluation], show: Callable[[Evaluation], None], *, quiet: bool) -> R:
    """Play what is planned under a progress bar; what is finished is shown if it is stopped."""
    with stoppable(plan.record, lambda known: show(plan.so_far(known))), progress(plan.total, quiet=quiet) as step:
        return plan.run(step)


@contextmanager
def stoppable(record: ResumableRecord, show: Callable[[list[Episode]], None]) -> Iterator[None]:
    """Print the results so far when the command is stopped; a server that failed gives no figures."""
    try:
        with closing(record), terminable():
            yield
    except KeyboardInterrupt as stop:
        known = record.clean
        errors.print(f"Interrupted: these are the figures of {len(known)} finished episodes.", style="yellow")
        if known:
            show(known)
        _print_continuation(record)
        raise typer.Exit(_status(stop)) from None
    except BudgetSpent as spent:
        known = record.clean
        errors.print(f"{spent} These are the figures of {len(known)} finished episodes.", style="yellow", markup=False)
        if known:
            show(known)
        _print_continuation(record)
        raise typer.Exit(spent.exit_code) from None
    except ServerFailed:
        _print_continuation(record)
        raise


@contextmanager
def continuable(folder: Path | None) -> Iterator[None]:
    """Print how an audit with this folder continues when it is stopped, by a person, its budget or its server."""
    after = (
        "Nothing was kept: with --out FOLDER the command can continue after an interruption."
        if folder is None
        else f"The same command goes on with the audit in {folder}."
    )
    try:
        with terminable():
            yield
    except KeyboardInterrupt as stop:
        errors.print(f"Interrupted. {after}", style="yellow", highlight=False, markup=False)
        raise typer.Exit(_status(stop)) from None
    except ServerFailed as failed:
        failed.args = (f"{failed} {after}",)
        raise


@contextmanager
def resumable(after: str = "") -> Iterator[None]:
    """Print how a command that makes runs continues after ^C: by this sentence, else by the notes of the interrupt."""
    try:
        with terminable():
            yield
    except KeyboardInterrupt as stop:
        said = after or " ".join(getattr(stop, "__notes__", ()))
        errors.print(f"Interrupted. {said}".strip(), style="yellow", highlight=False, markup=False, soft_wrap=True)
        raise typer.Exit(_status(stop)) from None


def _status(stop: BaseException) -> int:
    """Return the exit status of a command that a signal stopped."""
    return 143 if isinstance(stop, Terminated) else 130


def _print_continuation(record: ResumableRecord) -> None:
    """Print how to continue, or why that is not possible."""
    if record.folder is None:
        errors.print(
            "There is no record: with --record FOLDER the command can continue after an interruption.", highlight=False
        )
        return
    words = [word for word in sys.argv[1:] if word != "--resume"]
    errors.print(f"Continue with: stratagem {shlex.join(words)} --resume", highlight=False)
