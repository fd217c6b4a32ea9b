"""Texts of values: the figure, and its uncertainty after it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from stratagem.evaluation.deal_means import FEW
from stratagem.evaluation.figures.figure import Figure
from stratagem.evaluation.statistics import Estimate
from stratagem.show.table import AtLeast, Limits, Value

MISSING = "–"
FEW_DEALS = (
    f"n is the number of deals of an interval over fewer than {FEW}. Where payoffs are skewed, that of a mean holds in "
    "less than 95 %."
)
"""Sentence below a table with such intervals."""


class Piece(NamedTuple):
    """Part of a cell: the figure, and its uncertainty, which a face sets apart."""

    figure: str
    error: str = ""


def number(value: float, digits: int = 3) -> str:
    """Format a number without a negative zero."""
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def pieces_of(value: Value, digits: int = 3) -> list[Piece]:
    """Return the parts of a cell; several values stand with strokes between them."""
    if isinstance(value, tuple):
        parts = [pieces_of(part, digits) for part in value]
        return [piece for place, part in enumerate(parts) for piece in ([Piece(" / ")] if place else []) + part]
    return [_piece(value, digits)]


def _piece(value: Value, digits: int) -> Piece:
    match value:
        case None:
            return Piece(MISSING)
        case str():
            return Piece(value)
        case Figure():
            return Piece(value.label)
        case AtLeast():
            bound = _piece(value.bound, digits)
            return bound._replace(figure=f"≥ {bound.figure}")
        case Limits():
            return Piece("", f"{number(value.low, digits)}…{number(value.high, digits)}")
        case Estimate():
            return (
                Piece(MISSING) if math.isnan(value.mean) else Piece(number(value.mean, digits), _error(value, digits))
            )
        case bool() | int():
            return Piece(f"{value:,}")
    assert isinstance(value, float)
    return Piece(MISSING if math.isnan(value) else number(value, digits))


def _of_estimate(estimate: Estimate, digits: int) -> Piece:
    if math.isnan(estimate.mean):
        return Piece(MISSING)
    return Piece(number(estimate.mean, digits), _error(estimate, digits))


def _error(estimate: Estimate, digits: int) -> str:
    """Return the interval or the standard error; nothing where a figure is exact."""
    if estimate.low is not None and estimate.high is not None:
        few = f" n={estimate.n}" if is_of_few(estimate) else ""
        return f"{number(estimate.low, digits)}…{number(estimate.high, digits)}{few}"
    if estimate.exact:
        return ""
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
