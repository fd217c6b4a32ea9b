"""Sentences below tables: what each figure is, and what the marks beside it mean."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import wrap

from stratagem.show.cells import estimates_of, few_deals, is_of_few
from stratagem.show.table import AtLeast, Limits, Table, Value

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


def explain(tables: Iterable[Table]) -> list[str]:
    """Return a line for each figure of the tables that has an explanation, each once."""
    figures = {key: figure for table in tables for key, figure in table.figures.items()}
    lines = (f"{figure.label}: {figure.explanation}." for figure in figures.values() if figure.explanation)
    return list(dict.fromkeys(lines))


def explain_marks(tables: Iterable[Table]) -> list[str]:
    """Return the sentences about the marks that occur in the tables, and about intervals over few deals."""
    values = [value for table in tables for row in table.rows for value in row.values]
    found = {mark for value in values for mark in _marks(value)}
    estimates = [estimate for value in values for estimate in estimates_of(value)]
    sentence = " ".join(text for mark, text in _MARKS.items() if mark in found)
    return [*filter(None, [sentence]), *few_deals(filter(is_of_few, estimates))]


def wrap_lines(sentences: Iterable[str]) -> list[str]:
    """Return sentences in lines of a terminal."""
    return [line for sentence in sentences for line in wrap(sentence, _WIDTH)]


def _marks(value: Value) -> set[str]:
    if value is None:
        return {"missing"}
    found = {"bound"} if isinstance(value, AtLeast) else {"interval"} if isinstance(value, Limits) else set()
    for estimate in estimates_of(value):
        if estimate.low is not None:
            found.add("interval")
        elif estimate.exact:
            found.add("exact")
        else:
            found.add("single" if estimate.se is None else "error")
    return found
