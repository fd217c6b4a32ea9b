"""Table of figures: rows of values under catalogued figures. Its faces are a terminal, a notebook and a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from stratagem.measure.figures.figure import Figure
from stratagem.measure.statistics import Estimate

__all__ = [
    "AtLeast",
    "Column",
    "FigureLimits",
    "NamedFigure",
    "Numbers",
    "ResultTable",
    "TableRow",
    "Value",
    "columns_of",
    "heading_of",
    "is_numeric",
    "text_table",
    "within",
]


@dataclass(frozen=True)
class AtLeast:
    """Lower bound of a figure."""

    bound: Estimate


@dataclass(frozen=True)
class FigureLimits:
    """Limits of a figure beside its estimate, or without one; None where there is no limit on that side."""

    low: float | None
    high: float | None


@dataclass(frozen=True)
class NamedFigure:
    """Figure that names its row by a name of its own, such as `kuhn.illegal`, which conditions and commands take."""

    figure: Figure
    name: str


@dataclass(frozen=True)
class Numbers:
    """Column of numbers that is no figure, such as that of a stage or an opponent; its rows are the figures."""

    heading: str
    digits: int = 3


Value = str | int | float | Estimate | AtLeast | FigureLimits | Figure | NamedFigure | tuple["Value", ...] | None
"""Cell of a table: a text, a count, an exact number, an estimate, a bound, a figure that names its row, or several."""
Column = str | Numbers | Figure
"""Heading of texts, of numbers, or the figure of a column."""


def within(value: float | None, lower: float | None, upper: float | None) -> Value:
    """Return a number between its limits; bare where it has none."""
    if lower is None and upper is None:
        return value
    return FigureLimits(lower, upper) if value is None else Estimate(value, low=lower, high=upper)


@dataclass(frozen=True)
class TableRow:
    """Values of a table, in the order of its columns."""

    values: tuple[Value, ...]
    kind: str = ""
    """`counts` for a row that is emphasised, `chance` for the chance level, `null` for the null hypothesis.

    `bad` is a row that raises an alarm, `doubt` one that is marked otherwise.
    """


@dataclass(frozen=True)
class ResultTable:
    """Rows of values with their columns, and the sentences that belong to them."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...] = ()
    """Sentences below the table."""
    warnings: tuple[str, ...] = ()
    main: bool = True
    """False for a table that is printed with `--all` alone."""
    matrix: bool = False
    """True for a table whose columns of numbers stand for its rows, in the same order."""

    @property
    def figures(self) -> dict[str, Figure]:
        """Figures of the table by key: those of the columns, and those that name rows."""
        return {figure.key: figure for figure in self._figures()}

    def _figures(self) -> Iterator[Figure]:
        yield from (column for column in self.columns if isinstance(column, Figure))
        yield from (figure for row in self.rows if (figure := self.figure_of(row)) is not None)

    def figure_of(self, row: TableRow) -> Figure | None:
        """Return the figure that names a row; None where a text names it."""
        named = next((value for value in row.values if isinstance(value, Figure | NamedFigure)), None)
        return named.figure if isinstance(named, NamedFigure) else named

    def digits_of(self, row: TableRow, place: int) -> int:
        """Return the number of decimals of a cell: those of its column, or of the figure that names its row."""
        column = self.columns[place]
        named = self.figure_of(row)
        if isinstance(column, Figure):
            return column.digits
        if named is not None:
            return named.digits
        return column.digits if isinstance(column, Numbers) else 3


def columns_of(*columns: Column) -> tuple[Column, ...]:
    """Return columns of several kinds."""
    return columns


def text_table(title: str, columns: Sequence[Column], rows: Iterable[Sequence[Value]]) -> ResultTable:
    """Make a table of rows that are all of one kind."""
    return ResultTable(title, tuple(columns), tuple(TableRow(tuple(row)) for row in rows))


def heading_of(column: Column) -> str:
    """Return the heading of a column."""
    if isinstance(column, Figure):
        return column.label
    return column if isinstance(column, str) else column.heading


def is_numeric(column: Column) -> bool:
    """Return whether a column has numbers, which stand at the right."""
    return not isinstance(column, str)
