"""Texts of numbers: a true minus, no negative zero, and a dash where there is none."""

from __future__ import annotations

import math

MINUS = "\u2212"
MISSING = "\u2013"


def number(value: float | None, digits: int = 3) -> str:
    """Format a figure with so many decimals; a dash where there is none."""
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "\u221e" if value > 0 else f"{MINUS}\u221e"
    words = f"{value:.{digits}f}"
    return words.removeprefix("-") if float(words) == 0 else words.replace("-", MINUS)


def signed_text(value: float) -> str:
    """Format a difference, always with its sign."""
    words = number(value)
    return words if words.startswith(MINUS) or float(words) == 0 else f"+{words}"


def short(value: float | None) -> str:
    """Format a figure of any size in a few characters."""
    if value is None or not math.isfinite(value) or value == 0 or 1e-3 <= abs(value) < 1e5:
        return number(value)
    return f"{value:.2e}".replace("-", MINUS)
