"""Tables of a terminal, and the texts of numbers and estimates in them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from copy import copy

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table

from stratagem.api.console import Text
from stratagem.evaluation.deal_means import FEW
from stratagem.evaluation.statistics import Estimate

_ENDLESS = 1000
FEW_DEALS = (
    f"n is the number of deals of an interval over fewer than {FEW}. Where payoffs are skewed, that of a mean holds in "
    "less than 95 %."
)
"""Sentence below a table with such intervals."""


def cell(estimate: Estimate | None, digits: int = 3) -> Text:
    """Format an estimate for a table: bare where it is exact, else with its standard error or interval."""
    if estimate is None or math.isnan(estimate.mean):
        return Text("–", style="dim")
    text = Text(number(estimate.mean, digits))
    if estimate.low is not None and estimate.high is not None:
        few = f" n={estimate.n}" if is_of_few(estimate) else ""
        text.append(f" {number(estimate.low, digits)}…{number(estimate.high, digits)}{few}", style="dim")
    elif not estimate.exact:
        unknown = estimate.se is None or math.isnan(estimate.se)
        text.append(" ±?" if unknown else f" ±{number(estimate.se or 0.0, digits)}", style="dim")
    return text


def is_of_few(estimate: Estimate | None) -> bool:
    """Return whether a figure has an interval over so few deals that the rare ones have not been seen."""
    return estimate is not None and estimate.low is not None and not estimate.exact and 0 < estimate.n < FEW


def few_deals(estimates: Iterable[Estimate | None]) -> list[str]:
    """Return the sentence about intervals of few deals, where a table has any."""
    return [FEW_DEALS] if any(map(is_of_few, estimates)) else []


def number(value: float, digits: int = 3) -> str:
    """Format a number without a negative zero."""
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


class TitledTable(Table):
    """Table under a title line, as wide as its figures need; in a narrower terminal its columns stand in parts."""

    heading = ""
    figures = True

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.heading:
            yield Text(self.heading, style="bold")
        if not self.figures:
            yield from super().__rich_console__(console, options)
            return
        endless = options.update(max_width=_ENDLESS)
        for part in self._parts(console, endless):
            width = Measurement.get(console, endless, part).maximum
            yield from Table.__rich_console__(part, console, options.update(max_width=width))

    def _parts(self, console: Console, endless: ConsoleOptions) -> Iterator[Table]:
        """Yield tables of some columns that fit a terminal, each with the texts at the left; a file gets one."""
        number = next((index for index, column in enumerate(self.columns) if column.justify == "right"), 0)
        names, figures = self.columns[:number], self.columns[number:]
        part = copy(self)
        part.columns = [*names]
        for column in figures:
            longer = copy(part)
            longer.columns = [*part.columns, column]
            fits = not console.is_terminal or Measurement.get(console, endless, longer).maximum <= console.width
            if not fits and len(part.columns) > len(names):
                yield part
                longer.columns = [*names, column]
            part = longer
        yield part


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
