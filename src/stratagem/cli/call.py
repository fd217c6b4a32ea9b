"""Call of a function by a command, and the output of its result."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import typer

from stratagem.api.result import Result
from stratagem.api.stopped import SoFar, so_far_of
from stratagem.cli.console import errors, out
from stratagem.cli.interrupts import TerminationRequest, terminable
from stratagem.cli.output import print_result
from stratagem.cli.parameters import as_options
from stratagem.language.engines.remote.budget import BudgetSpent
from stratagem.language.engines.remote.terms import ServerFailed


class CommandCall(NamedTuple):
    """Function that a person calls by a command."""

    function: Callable[..., Any]
    given: Mapping[str, Any]
    """Parameters that were given, by name."""
    json: bool = False
    """True to print JSON."""
    everything: bool = False
    """True to print all figures, and not the main ones alone."""
    more: str = ""
    """Sentence about further figures, below the main ones."""

    def carry_out(self, **changed: Any) -> Any:
        """Call the function, some parameters changed; where it is stopped, print what is known and how to go on."""
        with stoppable(self.show):
            return self.function(**{**self.given, **changed})

    def show(self, result: Result) -> None:
        """Print a result, and the files that it wrote."""
        print_result(result, json=self.json, everything=self.everything)
        if self.json:
            return
        if self.more and not self.everything:
            out.print(self.more, style="dim", highlight=False)
        for path in result.files:
            out.print(str(path), markup=False, highlight=False, soft_wrap=True)


def print_call(call: CommandCall) -> None:
    """Call the function, print its result, and end with the status of the result."""
    result = call.carry_out()
    call.show(result)
    if result.exit_status:
        raise typer.Exit(result.exit_status)


def wait_for_end(call: CommandCall) -> None:
    """Print the address of a server, or of each player that it serves, and wait until ^C or SIGTERM closes it.

    Where a file was written in its place, print its name and size.
    """
    opened = call.carry_out()
    if isinstance(opened, Path):
        out.print(f"{opened}, {opened.stat().st_size / 1e6:.1f} MB", highlight=False, markup=False, soft_wrap=True)
        return
    with opened, suppress(KeyboardInterrupt), terminable():
        for line in [f"model {name} at {opened.url}" for name in call.given.get("players", ())] or [str(opened)]:
            out.print(line, highlight=False, markup=False, soft_wrap=True)
        opened.wait()


def serve_agent(call: CommandCall) -> None:
    """Serve tables until ^C, or until the client leaves; print the card of an audit, and end with its status."""
    opened = call.carry_out()
    with opened, terminable():
        for line in opened.first_lines():
            out.print(line, highlight=False, markup=False, soft_wrap=True)
        with stoppable(call.show) if opened.has_result else suppress(KeyboardInterrupt):
            result = opened.wait()
            if result is not None:
                call.show(result)
                raise typer.Exit(result.exit_status)


@contextmanager
def stoppable(show: Callable[[Result], None]) -> Iterator[None]:
    """Print the results so far, and how to continue, when the command is stopped; a failed server gives no results."""
    try:
        with terminable():
            yield
    except KeyboardInterrupt as stop:
        known = so_far_of(stop)
        _print_so_far("Interrupted:", known, show) if known else _say(" ".join(["Interrupted.", *notes_of(stop)]))
        raise typer.Exit(128 + stop.number if isinstance(stop, TerminationRequest) else 130) from None
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
    try:
        if (result := known.result()) is not None:
            show(result)
    finally:  # also where ^C comes once more, as the figures take a while
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
