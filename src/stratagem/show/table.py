"""Table of figures: rows of values under catalogued figures. Its faces are a terminal, a notebook and a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from stratagem.evaluation.figures.figure import Figure
from stratagem.evaluation.statistics import Estimate

__all__ = [
    "AtLeast",
    "Column",
    "Limits",
    "Numbers",
    "Row",
    "Table",
    "Value",
    "columns_of",
    "heading_of",
    "is_numeric",
    "text_table",
]


@dataclass(frozen=True)
class AtLeast:
    """Lower bound of a figure."""

    bound: Estimate


@dataclass(frozen=True)
class Limits:
    """Limits of a figure that has no estimate."""

    low: float
    high: float


@dataclass(frozen=True)
class Numbers:
    """Column of numbers that is no figure, such as that of a stage or an opponent; its rows are the figures."""

    heading: str
    digits: int = 3


Value = str | int | float | Estimate | AtLeast | Limits | Figure | tuple["Value", ...] | None
"""Cell of a table: a text, a count, an exact number, an estimate, a bound, a figure that names its row, or several."""
Column = str | Numbers | Figure
"""Heading of texts, of numbers, or the figure of a column."""


@dataclass(frozen=True)
class Row:
    """Values of a table, in the order of its columns."""

    values: tuple[Value, ...]
    kind: str = ""
    """`counts` for a row that is emphasised, `chance` for the chance level, `null` for the null hypothesis."""


@dataclass(frozen=True)
class Table:
    """Rows of values with their columns, and the sentences that belong to them."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    """Sentences below the table."""
    warnings: tuple[str, ...] = ()
    main: bool = True
    """False for a table that is printed with `--all` alone."""

    @property
    def figures(self) -> dict[str, Figure]:
        """Figures of the table by key: those of the columns, and those that name rows."""
        return {figure.key: figure for figure in self._figures()}

    def _figures(self) -> Iterator[Figure]:
        yield from (column for column in self.columns if isinstance(column, Figure))
        yield from (value for row in self.rows for value in row.values if isinstance(value, Figure))

    def digits_of(self, row: Row, place: int) -> int:
        """Return the number of decimals of a cell: those of its column, or of the figure that names its row."""
        column = self.columns[place]
        named = next((value for value in row.values if isinstance(value, Figure)), None)
        if isinstance(column, Figure):
            return column.digits
        if named is not None:
            return named.digits
        return column.digits if isinstance(column, Numbers) else 3


def columns_of(*columns: Column) -> tuple[Column, ...]:
    """Return columns of several kinds."""
    return columns


def text_table(title: str, columns: Sequence[Column], rows: Iterable[Sequence[Value]]) -> Table:
    """Make a table of rows that are all of one kind."""
    return Table(title, tuple(columns), tuple(Row(tuple(row)) for row in rows))


def heading_of(column: Column) -> str:
    """Return the heading of a column."""
    if isinstance(column, Figure):
        return column.label
    return column if isinstance(column, str) else column.heading


def is_numeric(column: Column) -> bool:
    """Return whether a column has numbers, which stand at the right."""
    return not isinstance(column, str)
