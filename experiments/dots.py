"""A picture of figures with their intervals: a row a figure, a dot for the mean, a bar for the interval, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

PLOT, ROW, LEFT, RIGHT, TOP, BOTTOM = 500, 24, 250, 70, 34, 40
"""Width of the plot, height of a row, and the least room around them."""
CHARACTER = 6.6
"""Width of a character of a label, which the browser's font decides: this is that of a wide one."""
INK, GRID, DOT, MARKED = "#24292f", "#e3e5e8", "#1f5fbf", "#c2571a"


class Dot(NamedTuple):
    """One row."""

    label: str
    mean: float
    low: float
    high: float
    marked: bool = False
    """True for the row that the others are compared with."""


@dataclass(frozen=True)
class Axis:
    """Axis of a picture, whose plot begins where the longest label ends."""

    low: float
    high: float
    left: float

    def along(self, value: float) -> float:
        """Return where a value stands."""
        return self.left + PLOT * (value - self.low) / (self.high - self.low)

    def lines(self, height: float) -> list[str]:
        """Draw lines across, with their numbers."""
        drawn = []
        for tick in range(6):
            value = self.low + (self.high - self.low) * tick / 5
            x, end = self.along(value), height - BOTTOM
            drawn.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{end}" stroke="{GRID}"/>')
            drawn.append(f'<text x="{x:.1f}" y="{end + 18}" text-anchor="middle">{self.shown(value, 2)}</text>')
        return drawn

    def row(self, dot: Dot, y: float) -> list[str]:
        """Draw a label, a bar, a dot and its number."""
        colour = MARKED if dot.marked else DOT
        low, middle, high = (
            self.along(min(max(value, self.low), self.high)) for value in (dot.low, dot.mean, dot.high)
        )
        return [
            f'<text x="{self.left - 12:g}" y="{y + 4:.1f}" text-anchor="end">{escape(dot.label)}</text>',
            f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}" stroke-width="2"/>',
            f'<circle cx="{middle:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>',
            f'<text x="{self.left + PLOT + 14:g}" y="{y + 4:.1f}">{self.shown(dot.mean, 3)}</text>',
        ]

    def shown(self, value: float, decimals: int) -> str:
        """Return a number with as many decimals as the axis can use."""
        return f"{value:.{max(0, decimals - (self.high >= 2) - 2 * (self.high >= 20))}f}"


def picture(dots: Sequence[Dot], title: str, low: float, high: float) -> str:
    """Draw the rows, one below the other, on an axis from `low` to `high`."""
    longest = max((len(dot.label) for dot in dots), default=0)
    axis = Axis(low, high, max(LEFT, round(CHARACTER * longest) + 24))
    width, height = axis.left + PLOT + RIGHT, TOP + ROW * len(dots) + BOTTOM
    body = [f'<text x="12" y="20" font-weight="bold">{escape(title)}</text>', *axis.lines(height)]
    for number, dot in enumerate(dots):
        body += axis.row(dot, TOP + ROW * number + ROW / 2)
    said = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" font-family="sans-serif" '
    said += f'font-size="12" fill="{INK}"><rect width="100%" height="100%" fill="#ffffff"/>'
    return said + "".join(body) + "</svg>\n"
