"""Tables of a terminal, which stand in parts where it is narrow."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

from rich import table as rich_table
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement

from stratagem.show.cells import pieces_of
from stratagem.show.console import VisibleText
from stratagem.show.table import Column, ResultTable, TableRow, Value, heading_of, is_numeric

_ENDLESS = 1000
"""Width at which no cell is wrapped, so that the columns can be measured before they are put into parts."""
_STYLES = {"null": "dim"}


class TitledTable(rich_table.Table):
    """Table under a title line, as wide as its figures need; in a narrower terminal its columns stand in parts."""

    heading = ""
    figures = True

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.heading:
            yield VisibleText(self.heading, style="bold")
        if not self.figures:
            yield from super().__rich_console__(console, options)
            return
        endless = options.update(max_width=_ENDLESS)
        for part in self._parts(console, endless):
            width = Measurement.get(console, endless, part).maximum
            yield from rich_table.Table.__rich_console__(part, console, options.update(max_width=width))

    def _parts(self, console: Console, endless: ConsoleOptions) -> Iterator[rich_table.Table]:
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


def terminal_table(table: ResultTable) -> rich_table.Table:
    """Return a table for a terminal: texts at the left, numbers at the right, uncertainties dimmed."""
    grid = make_grid(table.title, *table.columns)
    for row in table.rows:
        grid.add_row(*(_cell(value, table.digits_of(row, place), row) for place, value in enumerate(row.values)))
    return grid


def make_grid(title: str, *columns: Column) -> TitledTable:
    """Return an empty table; its title does not wrap at its width."""
    headings = [heading_of(column) for column in columns]
    grid = TitledTable(header_style="", box=None, pad_edge=False, show_header=any(headings))
    grid.heading, grid.figures = title, any(map(is_numeric, columns))
    for heading, column in zip(headings, columns, strict=True):
        right = is_numeric(column)
        # a word longer than its column, such as a command's path, goes on in the next line: cut, it cannot be copied
        grid.add_column(
            VisibleText(heading, style="cyan"),
            justify="right" if right else "left",
            no_wrap=grid.figures,
            overflow="ellipsis" if grid.figures else "fold",
        )
    return grid


def cell(value: Value, digits: int = 3) -> VisibleText:
    """Format a value for a terminal: bare where it is exact, else with its standard error or interval."""
    text = VisibleText()
    for figure, error in pieces_of(value, digits):
        text.append(figure, "dim" if figure == "–" else None)
        if error:
            text.append(f" {error}" if figure else error, style="dim")
    return text


def _cell(value: Value, digits: int, row: TableRow) -> VisibleText:
    text = cell(value, digits)
    if row.kind in _STYLES:
        text.stylize(_STYLES[row.kind])
    return text
