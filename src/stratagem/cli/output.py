"""Output of all commands: a progress bar, JSON, tables, and cells for estimates."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from stratagem.cli.console import errors, out
from stratagem.engines.open import tallies
from stratagem.errors import StratagemError
from stratagem.evaluation.statistics import Estimate
from stratagem.visible import json_text

_ENDLESS = 1000


@contextmanager
def progress(total: int, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show a progress bar on the error stream; each call names the next item and counts the one before."""
    columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=errors, transient=True, disable=quiet or not errors.is_terminal) as bar:
        task = bar.add_task("", total=total)
        started = False

        def step(name: str) -> None:
            nonlocal started
            bar.update(task, description=name, advance=int(started))
            started = True

        yield step


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


def write_json(data: Any, path: Path) -> None:
    """Write JSON, to a temporary name first."""
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(finite(data), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise StratagemError(f"{path} cannot be written: {error.strerror}.") from error


def finite(data: Any) -> Any:
    """Return the same data with null in place of NaN and infinities, which JSON does not have."""
    if isinstance(data, dict):
        return {key: finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def cell(estimate: Estimate | None, digits: int = 3) -> Text:
    """Format an estimate for a table: bare where it is exact, else with its standard error or interval."""
    if estimate is None or math.isnan(estimate.mean):
        return Text("–", style="dim")
    text = Text(number(estimate.mean, digits))
    if estimate.low is not None and estimate.high is not None:
        text.append(f" {number(estimate.low, digits)}…{number(estimate.high, digits)}", style="dim")
    elif not estimate.exact:
        text.append(f" ±{number(estimate.se, digits)}" if estimate.se is not None else " ±?", style="dim")
    return text


def number(value: float, digits: int = 3) -> str:
    """Format a number without a negative zero."""
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


class TitledTable(Table):
    """Table under a title line, as wide as its figures need."""

    heading = ""
    figures = True

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.heading:
            yield Text(self.heading, style="bold")
        if self.figures:
            endless = options.update(max_width=_ENDLESS)
            options = options.update(max_width=Measurement.get(console, endless, self).maximum)
        yield from super().__rich_console__(console, options)


def table(title: str, *columns: str, numbers: bool = True) -> Table:
    """Return a table whose first column is text and whose others are numbers.

    A title does not wrap at the table's width.
    """
    grid = TitledTable(header_style="", box=None, pad_edge=False, show_header=any(columns))
    grid.heading, grid.figures = title, numbers
    for index, column in enumerate(columns):
        right = numbers and index > 0
        grid.add_column(Text(column, style="cyan"), justify="right" if right else "left", no_wrap=numbers)
    return grid
