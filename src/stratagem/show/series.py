"""Series of a picture: what tables say of each figure, with its interval and the level of its null hypothesis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from stratagem.base.errors import UnknownName
from stratagem.base.renamed.metrics import present_figure, present_metric
from stratagem.measure.figures.figure import OF_GAME, Figure
from stratagem.measure.statistics import Estimate
from stratagem.show.cells import text_of
from stratagem.show.table import AtLeast, Column, FigureLimits, Numbers, ResultTable, TableRow, Value, heading_of

FIRST = ("exploitability", "gain", "payoff")
"""Figures that are drawn unless another one is named, in this order."""
_LEVELS = ("null", "random play")
"""Columns of levels that are no measurements."""


@dataclass(frozen=True)
class Series:
    """Values of one figure by the names of their rows."""

    title: str
    """Title of the table."""
    name: str
    """Heading of the column where the table has several, or the title."""
    values: Mapping[str, Estimate]
    nulls: Mapping[str, float] = field(default_factory=dict)
    """Levels under the null hypothesis, or of random play, by the same names."""
    level: str = "null"
    """Name of the levels."""


@dataclass(frozen=True)
class FigureSeries:
    """Figure with its series."""

    figure: Figure
    series: Sequence[Series]

    @property
    def title(self) -> str:
        """Titles of the tables."""
        return ", ".join(dict.fromkeys(series.title for series in self.series))

    @property
    def has_interval(self) -> bool:
        """Return whether a value is between limits, or has a standard error."""
        return any(one.low is not None or one.se for series in self.series for one in series.values.values())


def drawn_of(tables: Iterable[ResultTable]) -> dict[str, FigureSeries]:
    """Return what can be drawn by the key of its figure; for an audit that is the quantity."""
    found: dict[str, FigureSeries] = {}
    for figure, series in (one for table in tables for one in _series_of(table)):
        key = figure.key.removeprefix(OF_GAME)
        found[key] = FigureSeries(figure, [*(found[key].series if key in found else ()), series])
    return found


def choose(tables: Sequence[ResultTable], key: str = "") -> FigureSeries:
    """Return the figure of a key, or the one that is drawn unless another one is named.

    That is one of the main tables if they have any; one with an interval comes before the others.
    """
    main = drawn_of(table for table in tables if table.main)
    drawn = {**drawn_of(tables), **main}
    wanted = key or _first(main) or _first(drawn)
    if (present := wanted if wanted in drawn else present_figure(present_metric(wanted))) not in drawn:
        raise UnknownName("figure of this result", wanted, drawn)
    return drawn[present]


def _first(drawn: Mapping[str, FigureSeries]) -> str:
    named = [key for key in FIRST if key in drawn]
    return next(iter([*named, *(key for key, one in drawn.items() if one.has_interval), *drawn]), "")


def _series_of(table: ResultTable) -> Iterator[tuple[Figure, Series]]:
    for place, column in enumerate(table.columns):
        if isinstance(column, Figure):
            yield from _of_column(table, place, column)
    named = [(row, figure) for row in table.rows if (figure := table.figure_of(row)) is not None]
    for figure in dict.fromkeys(figure for _, figure in named):
        yield from _of_rows(table, figure, [row for row, one in named if one == figure])


def _of_column(table: ResultTable, place: int, figure: Figure) -> Iterator[tuple[Figure, Series]]:
    """Yield the series of a column whose heading is a figure, with its one level under the null hypothesis."""
    values = dict(_values(table, (row for row in table.rows if row.kind != "null"), place))
    levels = [row.values[place] for row in table.rows if row.kind == "null"]
    if values:
        level = levels[0] if len(levels) == 1 else None
        nulls = dict.fromkeys(values, level) if isinstance(level, float) else {}
        yield figure, Series(table.title, table.title, values, nulls)


def _of_rows(table: ResultTable, figure: Figure, rows: Sequence[TableRow]) -> Iterator[tuple[Figure, Series]]:
    """Yield the series of the columns of rows that a figure names; a level stands right of its values."""
    columns = [place for place, column in enumerate(table.columns) if _is_measured(column)]
    estimated = [place for place in columns if any(isinstance(row.values[place], Estimate) for row in table.rows)]
    for place in estimated or columns[:1]:
        name = table.title if len(estimated) < 2 else heading_of(table.columns[place])
        level = next((at for at, one in enumerate(table.columns) if at > place and heading_of(one) in _LEVELS), None)
        nulls = {} if level is None else dict(_values(table, rows, level))
        if values := dict(_values(table, rows, place)):
            levels = {key: one.mean for key, one in nulls.items()}
            yield figure, Series(table.title, name, values, levels, heading_of(table.columns[level or place]))


def _is_measured(column: Column) -> bool:
    return isinstance(column, Numbers) and column.heading not in _LEVELS


def _values(table: ResultTable, rows: Iterable[TableRow], place: int) -> Iterator[tuple[str, Estimate]]:
    """Yield the values of a column by the names of the rows."""
    for row in rows:
        if (value := value_of(row.values[place])) is not None:
            yield name_of(table, row), value


def name_of(table: ResultTable, row: TableRow) -> str:
    """Return the name of a row: its cell in the first column of texts that has a heading."""
    return next(
        text_of(value)
        for column, value in zip(table.columns, row.values, strict=True)
        if isinstance(column, str) and column
    )


def value_of(value: Value) -> Estimate | None:
    """Return the value of a cell with its limits; None where there is none."""
    match value:
        case Estimate():
            return None if math.isnan(value.mean) else value
        case AtLeast():
            return value.bound
        case FigureLimits(low=low, high=high):
            end = low if low is not None else high
            return None if end is None else Estimate(end, low=low, high=high)
        case float():
            return None if math.isnan(value) else Estimate(value)
    return None
