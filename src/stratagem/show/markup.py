"""Tables of a page or a notebook; texts are escaped, for names and replies come from anybody."""

from __future__ import annotations

from dataclasses import replace

from stratagem.measure.figures.figure import Figure
from stratagem.measure.statistics import Estimate, students
from stratagem.show.cells import MISSING, pieces_of
from stratagem.show.html import Html, breakable, element, join
from stratagem.show.table import Column, NamedFigure, ResultTable, TableRow, Value, heading_of

MINUS = "\u2212"
ARROWS = {"higher": " ↑", "lower": " ↓", "neither": ""}


def table_html(table: ResultTable) -> Html:
    """Return a table of HTML with its notes and its warnings."""
    head = element("thead", element("tr", *map(_heading, table.columns)))
    body = element("tbody", *(_row(table, row) for row in table.rows))
    caption = element("caption", table.title) if table.title else ""
    shown = element("table", caption, head if any(map(heading_of, table.columns)) else "", body)
    notes = [element("p", note, class_="note") for note in (*table.notes, *table.warnings)]
    return join(element("div", shown, class_="scroll", tabindex="0"), *notes)


def with_intervals(table: ResultTable) -> ResultTable:
    """Return a table whose sampled figures have their 95 % interval by Student's t."""
    rows = (replace(row, values=tuple(map(_with_interval, row.values))) for row in table.rows)
    return replace(table, rows=tuple(rows))


def _with_interval(value: Value) -> Value:
    if isinstance(value, Estimate):
        return value if value.low is not None else students(value)
    return tuple(map(_with_interval, value)) if isinstance(value, tuple) else value


def _heading(column: Column) -> Html:
    """Return a heading; that of a figure has an arrow in the better direction, and its explanation as a tip."""
    if not isinstance(column, Figure):
        return element("th", heading_of(column), scope="col")
    return element("th", column.label + ARROWS[column.better], scope="col", title=column.explanation or False)


def _row(table: ResultTable, row: TableRow) -> Html:
    cells = [_cell(value, table.digits_of(row, place), first=not place) for place, value in enumerate(row.values)]
    return element("tr", *cells, class_=row.kind or False)


def _piece(figure: str, error: str) -> Html:
    return join(figure, " " if figure and error else "", element("small", error) if error else "")


def _sign_text(text: str, value: Value) -> str:
    """Write a true minus sign in numbers."""
    return text if isinstance(value, str) else text.replace("-", MINUS)


def _cell(value: Value, digits: int, *, first: bool) -> Html:
    parts = pieces_of(value, digits)
    if first and isinstance(value, str | NamedFigure):
        return element("th", *(breakable(name) for name, _ in parts), scope="row")
    text = join(*(_piece(_sign_text(figure, value), _sign_text(error, value)) for figure, error in parts))
    if first:
        return element("th", text, scope="row")
    if text == MISSING:
        return element("td", text, class_="none", title="Undefined, or not available.")
    return element("td", text)
