"""Sentences below tables: what each figure is, and what the marks beside it mean."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import wrap

from stratagem.measure.figures.figure import OF_GAME, Figure
from stratagem.show.cells import estimates_of, few_deals, is_of_few
from stratagem.show.table import AtLeast, FigureLimits, ResultTable, Value

__all__ = ["explain", "explain_marks", "wrap_lines"]

_WIDTH = 100

_MARKS = {
    "exact": "A figure alone is exact.",
    "error": "± is a standard error over deals.",
    "single": "±? marks a single deal.",
    "interval": "a…b is a 95 % interval.",
    "bound": "≥ is a lower bound.",
    "missing": "– is undefined or not available.",
}


def explain(tables: Iterable[ResultTable]) -> list[str]:
    """Return a line for each figure of the tables that has an explanation, each once."""
    figures = {key: figure for table in tables for key, figure in table.figures.items()}
    lines = (f"{_heading(figure)}: {figure.explanation}." for figure in figures.values() if figure.explanation)
    return list(dict.fromkeys(lines))


def _heading(figure: Figure) -> str:
    """Return the label; of a figure of an audit the name that the card has, with its label."""
    if not figure.key.startswith(OF_GAME):
        return figure.label
    quantity = figure.key.removeprefix(OF_GAME)
    return quantity if figure.label == quantity.replace("_", " ") else f"{quantity} ({figure.label})"


def explain_marks(tables: Iterable[ResultTable]) -> list[str]:
    """Return the sentences about the marks that occur in the tables, and about intervals over few deals."""
    values = [value for table in tables for row in table.rows for value in row.values]
    found = {mark for value in values for mark in _marks(value)}
    estimates = [estimate for value in values for estimate in estimates_of(value)]
    sentence = " ".join(text for mark, text in _MARKS.items() if mark in found)
    return [*filter(None, [sentence]), *few_deals(filter(is_of_few, estimates))]


def wrap_lines(sentences: Iterable[str]) -> list[str]:
    """Return sentences in lines of a terminal."""
    return [line for sentence in sentences for line in wrap(sentence, _WIDTH)]


def _marks_of_limits(limits: FigureLimits) -> set[str]:
    if limits.low is None:
        return set()
    return {"bound"} if limits.high is None else {"interval"}


def _marks(value: Value) -> set[str]:
    if value is None:
        return {"missing"}
    found = (
        {"bound"}
        if isinstance(value, AtLeast)
        else _marks_of_limits(value)
        if isinstance(value, FigureLimits)
        else set()
    )
    for estimate in estimates_of(value):
        if estimate.low is not None:
            found.add("interval")
        elif estimate.exact:
            found.add("exact")
        else:
            found.add("single" if estimate.se is None else "error")
    return found
