"""Texts of values: the figure, and its uncertainty after it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from stratagem.measure.deal_means import FEW
from stratagem.measure.figures.figure import Figure
from stratagem.measure.statistics import Estimate
from stratagem.show.table import AtLeast, FigureLimits, NamedFigure, Value

MISSING = "–"
FEW_DEALS = (
    f"n is the number of deals of an interval over fewer than {FEW}. Where payoffs are skewed, that of a mean holds in "
    "less than 95 %."
)
"""Sentence below a table with such intervals."""


class CellPart(NamedTuple):
    """Part of a cell: the figure, and its uncertainty, which a face sets apart."""

    figure: str
    error: str = ""


def number(value: float, digits: int = 3) -> str:
    """Format a number without a negative zero."""
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def pieces_of(value: Value, digits: int = 3) -> list[CellPart]:
    """Return the parts of a cell; several values stand with strokes between them."""
    if isinstance(value, tuple):
        parts = [pieces_of(part, digits) for part in value]
        return [piece for place, part in enumerate(parts) for piece in ([CellPart(" / ")] if place else []) + part]
    return [_piece(value, digits)]


def _piece(value: Value, digits: int) -> CellPart:
    match value:
        case None:
            return CellPart(MISSING)
        case str():
            return CellPart(value)
        case Figure():
            return CellPart(value.label)
        case NamedFigure():
            return CellPart(value.name)
        case AtLeast():
            bound = _piece(value.bound, digits)
            return bound._replace(figure=f"≥ {bound.figure}")
        case FigureLimits():
            return _of_limits(value, digits)
        case Estimate():
            return _of_estimate(value, digits)
        case bool() | int():
            return CellPart(f"{value:,}")
    assert isinstance(value, float)
    return CellPart(MISSING if math.isnan(value) else number(value, digits))


def _of_estimate(estimate: Estimate, digits: int) -> CellPart:
    if math.isnan(estimate.mean):
        return CellPart(MISSING)
    return CellPart(number(estimate.mean, digits), _error(estimate, digits))


def _of_limits(limits: FigureLimits, digits: int) -> CellPart:
    low, high = (None if end is None else number(end, digits) for end in (limits.low, limits.high))
    if low is None or high is None:
        return CellPart("", f"≥ {low}" if low is not None else f"≤ {high}" if high is not None else MISSING)
    return CellPart("", f"{low}…{high}")


def _error(estimate: Estimate, digits: int) -> str:
    """Return the interval or the standard error; nothing where a figure is exact."""
    if estimate.low is not None and estimate.high is not None:
        few = f" n={estimate.n}" if is_of_few(estimate) else ""
        return f"{number(estimate.low, digits)}…{number(estimate.high, digits)}{few}"
    if estimate.exact:
        return ""
    if estimate.low is not None or estimate.high is not None:
        return _of_limits(FigureLimits(estimate.low, estimate.high), digits).error
    return "±?" if estimate.se is None or math.isnan(estimate.se) else f"±{number(estimate.se, digits)}"


def text_of(value: Value, digits: int = 3) -> str:
    """Return the text of a cell."""
    return "".join(
        " ".join(filter(None, piece)) if piece.figure != " / " else piece.figure for piece in pieces_of(value, digits)
    )


def is_of_few(estimate: Estimate | None) -> bool:
    """Return whether a figure has an interval over so few deals that the rare ones have not been seen."""
    return estimate is not None and estimate.low is not None and not estimate.exact and 0 < estimate.n < FEW


def few_deals(estimates: Iterable[Estimate | None]) -> list[str]:
    """Return the sentence about intervals of few deals, where a table has any."""
    return [FEW_DEALS] if any(map(is_of_few, estimates)) else []


def estimates_of(value: Value) -> Iterator[Estimate]:
    """Yield the estimates of a cell."""
    if isinstance(value, Estimate):
        yield value
    elif isinstance(value, AtLeast):
        yield value.bound
    elif isinstance(value, tuple):
        for part in value:
            yield from estimates_of(part)
