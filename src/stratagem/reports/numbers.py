"""Formats of numbers: a true minus, no negative zero, and the uncertainty beside the figure."""

from __future__ import annotations

import math
from statistics import NormalDist

from stratagem.reports.files import Figure
from stratagem.reports.html import Html, element

MINUS = "\u2212"
_REACH = NormalDist().inv_cdf(0.975)
_MISSING = "\u2013"


def number(value: float | None, digits: int = 3) -> str:
    """Format a figure with so many decimals; a dash where there is none."""
    if value is None or math.isnan(value):
        return _MISSING
    if math.isinf(value):
        return "\u221e" if value > 0 else f"{MINUS}\u221e"
    words = f"{value:.{digits}f}"
    return words.removeprefix("-") if float(words) == 0 else words.replace("-", MINUS)


def signed(value: float) -> str:
    """Format a difference, always with its sign."""
    words = number(value)
    return words if words.startswith(MINUS) or float(words) == 0 else f"+{words}"


def short(value: float | None) -> str:
    """Format a figure of any size in a few characters."""
    if value is None or not math.isfinite(value) or value == 0 or 1e-3 <= abs(value) < 1e5:
        return number(value)
    return f"{value:.2e}".replace("-", MINUS)


def interval(figure: Figure) -> tuple[float, float] | None:
    """Return the 95 % interval: the figure's own, or the normal one.

    None for an exact figure or a single observation.
    """
    if figure.exact or figure.mean is None:
        return None
    if figure.low is not None and figure.high is not None:
        return figure.low, figure.high
    return None if figure.se is None else (figure.mean - _REACH * figure.se, figure.mean + _REACH * figure.se)


def cell(figure: Figure | None) -> Html:
    """Format a figure with its interval below; bare where it is exact."""
    if figure is None or figure.mean is None or math.isnan(figure.mean):
        return element("td", _MISSING, class_="none", title="Undefined, or not available.")
    ends = interval(figure)
    single = "" if figure.exact else "one observation"
    below = f"{number(ends[0])} \u2026 {number(ends[1])}" if ends else single
    tip = "exact expectation" if figure.exact else f"{figure.n} independent observations"
    return element("td", number(figure.mean), element("small", below) if below else "", title=tip)


def exact_cell(value: float | None, why: str = "") -> Html:
    """Format an exact figure, or the reason why there is none."""
    if value is None:
        return element("td", _MISSING, class_="none", title=why or "Not computed.")
    return element("td", number(value), title="computed exactly")


def differs(first: Figure | None, second: Figure | None) -> bool | None:
    """Return whether two figures differ by more than their errors explain (5 %); None where that is unknown."""
    if first is None or second is None or first.mean is None or second.mean is None:
        return None
    errors = [0.0 if figure.exact else figure.se for figure in (first, second)]
    if None in errors:
        return None
    return abs(second.mean - first.mean) > max(1e-9, _REACH * math.hypot(*(error or 0.0 for error in errors)))
