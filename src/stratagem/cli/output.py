"""Output of all commands: a progress bar, JSON, tables, and cells for estimates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from stratagem.api.json_file import write_json
from stratagem.api.progress import counted
from stratagem.api.result import Grid, Result, as_table
from stratagem.api.tables import cell, number, table
from stratagem.cli.console import errors, out
from stratagem.cli.parameters import as_options
from stratagem.engines.open import tallies
from stratagem.files import finite
from stratagem.visible import json_text

__all__ = [
    "cell",
    "number",
    "print_grid",
    "print_json",
    "print_remarks",
    "print_result",
    "print_tallies",
    "progress",
    "table",
    "write_json",
]


@contextmanager
def progress(total: int, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show a progress bar on the error stream; each call names the next item and counts the one before."""
    with counted(total, shown=not quiet) as step:
        yield step


def print_grid(grid: Grid) -> None:
    """Print a table of a result."""
    out.print(as_table(grid))


def print_remarks(result: Result) -> None:
    """Print the sentences of a result, in the words of the command line."""
    for remark in result.remarks():
        out.print(as_options(remark), highlight=False, markup=False)


def print_result(result: Result, *, json: bool) -> None:
    """Print a result as tables and sentences, or as JSON."""
    if json:
        print_json(result.to_json())
        return
    for grid in result.grids():
        print_grid(grid)
    print_remarks(result)


def print_tallies() -> None:
    """Print the requests to servers and their price on the error stream; nothing where no server was named."""
    for name, tally in tallies().items():
        counts = f"{tally.num_requests} requests, {tally.num_retries} retries, {tally.num_errors} failed"
        tokens = f"{tally.num_prompt} prompt tokens, {tally.num_reply} reply tokens"
        price = "" if tally.price is None else f", price {tally.price:.4f}"
        errors.print(f"{name}: {counts}; {tokens}{price}", highlight=False, markup=False, style="dim")


def print_json(data: Any) -> None:
    """Print JSON for machines; NaN and infinity become null."""
    out.print(json_text(finite(data)), soft_wrap=True, highlight=False)
