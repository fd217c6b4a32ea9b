"""Maps of a label scan as one SVG picture.

The upper row is ShapeLLM's Figure 10, the lower one the letters; a column a state.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from string import ascii_uppercase

from label_maps import density, letters

from stratagem.measure.labels import Scan

_SIDE, _GAP, _LEFT, _TOP, _BETWEEN = 208, 34, 64, 86, 84
"""Sizes in pixels: a map, the room between two, the margins, the room between the rows."""
_KEY = 10
"""Height of a colour key."""
_COUNTS = ("#f6d48b", "#ee9a4d", "#cf4f42", "#8c1d4f", "#3b0a3a")
"""Colours from one pair to the most, on a log scale: most pairs often fall into a few cells."""
_SHARES = ("#8a3b12", "#dd8f4e", "#f6e3cc", "#f4f4f2", "#cfe0ea", "#5d9cc4", "#123f6d")
"""Colours from 0, all second label, to 1, all first."""
_NOTHING = "#b5b5b5"


def picture(scan: Scan, states: Sequence[str], actions: Sequence[str], title: str) -> str:
    """Draw both maps of every state; `actions` are the game's own names of the two."""
    width = _LEFT + len(states) * (_SIDE + _GAP) + 20
    lower = _TOP + _SIDE + _BETWEEN
    height = lower + _SIDE + 78
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="system-ui, sans-serif" font-size="11" fill="#222">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        _text(_LEFT, 26, title, size=16, anchor="start"),
        *_densities(scan, states, actions),
        *_letters(scan, states, actions, lower),
    ]
    return "\n".join([*parts, "</svg>\n"])


def _left(state: int) -> int:
    return _LEFT + state * (_SIDE + _GAP)


def _densities(scan: Scan, states: Sequence[str], actions: Sequence[str]) -> Iterator[str]:
    maps = [density(scan, state) for state in range(len(states))]
    most = max(max(map(max, counts)) for counts in maps)
    for state, counts in enumerate(maps):
        x, size = _left(state), _SIDE / len(counts)
        yield _text(x + _SIDE / 2, _TOP - 12, "before anything was played" if not state else f"after {states[state]}")
        for row, line in enumerate(counts):
            for column, count in enumerate(line):
                if count:
                    tip = f"{count} pairs"
                    at = x + column * size, _TOP + _SIDE - (row + 1) * size
                    yield _cell(*at, size, _colour(_COUNTS, math.log(count) / math.log(max(2, most))), tip)
        yield f'<path d="M{x} {_TOP}L{x + _SIDE} {_TOP + _SIDE}" stroke="#999" stroke-dasharray="3 3"/>'
        yield from _frame(x, _TOP)
        yield from _ticks(x, _TOP + _SIDE)
        yield _text(x + _SIDE / 2, _TOP + _SIDE + 28, f"p({actions[0]})")
    yield _upright(_LEFT - 40, _TOP + _SIDE / 2, f"p({actions[1]})")
    yield from _key(_TOP - 52, _COUNTS, "1", f"{most} pairs of capitals in a cell, by the logarithm")


def _letters(scan: Scan, states: Sequence[str], actions: Sequence[str], top: int) -> Iterator[str]:
    size = _SIDE / len(ascii_uppercase)
    for state in range(len(states)):
        x = _left(state)
        for row, (first, line) in enumerate(zip(ascii_uppercase, letters(scan, state), strict=True)):
            for column, (second, share) in enumerate(zip(ascii_uppercase, line, strict=True)):
                colour = _NOTHING if share is None or share != share else _colour(_SHARES, share)
                tip = f"{first}/{second}" + ("" if share is None else f": {share:.3f}")
                yield _cell(x + column * size, top + row * size, size, colour, tip if first != second else "")
        yield from _frame(x, top)
        for position, letter in enumerate(ascii_uppercase):
            middle = (position + 0.5) * size
            yield _text(x + middle, top + _SIDE + 9, letter, size=7)
            yield _text(x - 6, top + middle + 2.5, letter, size=7)
        yield _text(x + _SIDE / 2, top + _SIDE + 24, f"label of {actions[1]}")
    yield _upright(_LEFT - 40, top + _SIDE / 2, f"label of {actions[0]}")
    key = f"1   share of {actions[0]} in what is said of the two; grey: no such pair"
    yield from _key(top + _SIDE + 40, _SHARES, "0", key)


def _key(y: float, colours: Sequence[str], low: str, high: str) -> Iterator[str]:
    """Yield a bar of colours with its ends named."""
    steps, width = 40, 4
    yield _text(_LEFT, y + 9, low, anchor="start")
    for step in range(steps):
        yield (
            f'<rect x="{_LEFT + 14 + step * width}" y="{y}" width="{width + 0.3}" height="{_KEY}" '
            f'fill="{_colour(colours, step / (steps - 1))}"/>'
        )
    yield _text(_LEFT + 20 + steps * width, y + 9, high, anchor="start")


def _colour(colours: Sequence[str], share: float) -> str:
    """Return the colour at a position from 0 to 1 along a row of colours."""
    position = min(max(share, 0.0), 1.0) * (len(colours) - 1)
    low = min(int(position), len(colours) - 2)
    ends = [[int(colour[start : start + 2], 16) for start in (1, 3, 5)] for colour in colours[low : low + 2]]
    return "#" + "".join(f"{round(a + (b - a) * (position - low)):02x}" for a, b in zip(*ends, strict=True))


def _cell(x: float, y: float, size: float, colour: str, tip: str) -> str:
    inside = f"<title>{escape(tip)}</title>" if tip else ""
    return f'<rect x="{x:.2f}" y="{y:.2f}" width="{size:.2f}" height="{size:.2f}" fill="{colour}">{inside}</rect>'


def _frame(x: float, y: float) -> Iterator[str]:
    yield f'<rect x="{x}" y="{y}" width="{_SIDE}" height="{_SIDE}" fill="none" stroke="#666"/>'


def _ticks(x: float, bottom: float) -> Iterator[str]:
    for share in (0.0, 0.5, 1.0):
        yield _text(x + share * _SIDE, bottom + 14, f"{share:g}", size=9)
        yield _text(x - 5, bottom - share * _SIDE + 3, f"{share:g}", size=9, anchor="end")


def _text(x: float, y: float, text: str, *, size: int = 11, anchor: str = "middle") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}">{escape(text)}</text>'


def _upright(x: float, y: float, text: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="middle" transform="rotate(-90 {x:g} {y:g})">{escape(text)}</text>'
