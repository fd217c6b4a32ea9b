"""A picture of figures with their intervals: a row a figure, a dot for the mean, a bar for the interval, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, ROW, LEFT, RIGHT, TOP, BOTTOM = 820, 24, 250, 70, 34, 40
INK, GRID, DOT, MARKED = "#24292f", "#e3e5e8", "#1f5fbf", "#c2571a"


class Dot(NamedTuple):
    """One row."""

    label: str
    mean: float
    low: float
    high: float
    marked: bool = False
    """True for the row that the others are compared with."""


def picture(dots: Sequence[Dot], title: str, low: float, high: float) -> str:
    """The rows, one below the other, on an axis from `low` to `high`."""
    height = TOP + ROW * len(dots) + BOTTOM
    body = [f'<text x="12" y="20" font-weight="bold">{escape(title)}</text>', *axis(low, high, height)]
    for number, dot in enumerate(dots):
        body += row(dot, TOP + ROW * number + ROW / 2, low, high)
    said = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
    said += f'font-size="12" fill="{INK}"><rect width="100%" height="100%" fill="#ffffff"/>'
    return said + "".join(body) + "</svg>\n"


def axis(low: float, high: float, height: float) -> list[str]:
    """Five lines across, with their numbers."""
    drawn = []
    for tick in range(6):
        value = low + (high - low) * tick / 5
        x = along(value, low, high)
        drawn.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{height - BOTTOM}" stroke="{GRID}"/>')
        drawn.append(
            f'<text x="{x:.1f}" y="{height - BOTTOM + 18}" text-anchor="middle">{shown(value, high, 2)}</text>'
        )
    return drawn


def row(dot: Dot, y: float, low: float, high: float) -> list[str]:
    """A label, a bar, a dot and its number."""
    colour = MARKED if dot.marked else DOT
    left, middle, right = (along(min(max(value, low), high), low, high) for value in (dot.low, dot.mean, dot.high))
    return [
        f'<text x="{LEFT - 12}" y="{y + 4:.1f}" text-anchor="end">{escape(dot.label)}</text>',
        f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}" stroke-width="2"/>',
        f'<circle cx="{middle:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>',
        f'<text x="{WIDTH - RIGHT + 14}" y="{y + 4:.1f}">{shown(dot.mean, high, 3)}</text>',
    ]


def shown(value: float, high: float, decimals: int) -> str:
    """A number with as many decimals as an axis up to `high` can use."""
    return f"{value:.{max(0, decimals - (high >= 2) - 2 * (high >= 20))}f}"


def along(value: float, low: float, high: float) -> float:
    """Where a value stands."""
    return LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / (high - low)
