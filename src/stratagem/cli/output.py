"""Output of all commands: a progress bar, JSON, tables, and cells for estimates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from stratagem.base.files import finite, write_json
from stratagem.base.visible import json_text
from stratagem.cli.console import errors, out
from stratagem.cli.parameters import as_options
from stratagem.show.console import VisibleText
from stratagem.show.legend import wrap_lines
from stratagem.show.table import ResultTable
from stratagem.show.terminal import terminal_table

if TYPE_CHECKING:
    from stratagem.api.result import Result

__all__ = [
    "print_json",
    "print_result",
    "print_table",
    "print_tallies",
    "progress",
    "write_json",
]


@contextmanager
def progress(total: int, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show a progress bar on the error stream; each call names the next item and counts the one before."""
    from stratagem.api.progress import show_progress  # loads the bars of rich

    with show_progress(total, shown=not quiet) as step:
        yield step


def print_table(table: ResultTable) -> None:
    """Print a table of a result with its notes; its warnings go to the error stream."""
    out.print(terminal_table(table))
    for note in table.notes:
        out.print(VisibleText(f"  {note}", style="dim"))
    for warning in table.warnings:
        errors.print(VisibleText(f"  warning: {warning}", style="yellow"))


def print_result(result: Result, *, json: bool, everything: bool = False) -> None:
    """Print a result as its main tables, or all, and sentences; or as JSON."""
    if json:
        print_json(result.to_json())
        return
    tables = result.tables() if everything else result.main_tables()
    sentences = [*wrap_lines(result.legend(tables)), *result.remarks()]
    for line in wrap_lines(result.first_lines()):
        out.print(line, highlight=False, markup=False)
    if result.first_lines() and tables:
        out.print()
    for place, table in enumerate(tables):
        print_table(table)
        if sentences or place + 1 < len(tables):
            out.print()
    for sentence in sentences:
        out.print(as_options(sentence), highlight=False, markup=False)


def print_tallies() -> None:
    """Print the requests to servers and their price on the error stream; nothing where no server was named."""
    from stratagem.language.engines.open import tallies  # loads the engines, as a command has done that used one

    for name, tally in tallies().items():
        counts = f"{tally.num_requests} requests, {tally.num_retries} retries, {tally.num_errors} failed"
        tokens = f"{tally.num_prompt} prompt tokens, {tally.num_reply} reply tokens"
        price = "" if tally.price is None else f", price {tally.price:.4f}"
        errors.print(f"{name}: {counts}; {tokens}{price}", highlight=False, markup=False, style="dim")


def print_json(data: Any) -> None:
    """Print JSON for machines; NaN and infinity become null."""
    out.print(json_text(finite(data)), soft_wrap=True, highlight=False)
