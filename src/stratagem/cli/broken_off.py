"""Commands that are stopped: ^C, SIGTERM and a spent budget print the results so far, and how to continue."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from stratagem.api.result import Result
from stratagem.api.stopped import SoFar, so_far_of
from stratagem.cli.console import errors
from stratagem.cli.interrupts import TerminationRequest, terminable
from stratagem.cli.parameters import as_options
from stratagem.language.engines.remote.budget import BudgetSpent
from stratagem.language.engines.remote.terms import ServerFailed


@contextmanager
def stoppable(show: Callable[[Result], None]) -> Iterator[None]:
    """Print the results so far, and how to continue, when the command is stopped; a failed server gives no results."""
    try:
        with terminable():
            yield
    except KeyboardInterrupt as stop:
        known = so_far_of(stop)
        _print_so_far("Interrupted:", known, show) if known else _say(" ".join(["Interrupted.", *notes_of(stop)]))
        raise typer.Exit(143 if isinstance(stop, TerminationRequest) else 130) from None
    except BudgetSpent as spent:
        if (known := so_far_of(spent)) is None:
            raise
        _print_so_far(f"{spent}", known, show)
        raise typer.Exit(spent.exit_code) from None
    except ServerFailed as failed:
        if (known := so_far_of(failed)) is not None:
            _print_continuation(known)
        raise


def notes_of(stop: BaseException) -> list[str]:
    """Return the notes of an exception, with options for parameters."""
    return [as_options(note) for note in getattr(stop, "__notes__", ())]


def _print_so_far(cause: str, known: SoFar, show: Callable[[Result], None]) -> None:
    these = "these" if cause.endswith(":") else "These"
    _say(f"{cause} {these} are the figures of {len(known.episodes)} finished episodes.")
    if (result := known.result()) is not None:
        show(result)
    _print_continuation(known)


def _print_continuation(known: SoFar) -> None:
    """Print how to continue, or why that is not possible."""
    if known.folder is None:
        errors.print(
            "There is no record: with --record FOLDER the command can continue after an interruption.", highlight=False
        )
        return
    words = [word for word in sys.argv[1:] if word != "--resume"]
    errors.print(f"Continue with: stratagem {shlex.join(words)} --resume", highlight=False)


def _say(sentence: str) -> None:
    errors.print(sentence.strip(), style="yellow", highlight=False, markup=False, soft_wrap=True)
