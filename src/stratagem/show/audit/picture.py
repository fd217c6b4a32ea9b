"""Picture of exploitabilities: their intervals on a line from 0, where nothing is gained, past random play."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stratagem.measure.audit.measurement import Measurement
from stratagem.show.cells import number
from stratagem.show.html import Html, element

_WIDTH = 640
_EDGE = 4.0
"""Room left and right of the line, as all places in percent: letters keep their size where the picture is narrow."""
_TITLE, _ROW, _BAND = 14, 40, 9
"""Height of the title and of a row, and half of the height of an interval."""
_LONGER = 1.1
"""Length of the line as a multiple of its largest figure."""
_SIDE = 25.0
"""Percent from an edge within which a text begins or ends at its mark, so that it stays in the picture."""


def interval_picture(figure: Measurement) -> Html | str:
    """Return the picture of a figure; empty where there is none, or nothing to compare it with.

    A line that begins at 0 cannot show a difference, such as a gap, which is 0 for random play and may be below.
    """
    if figure.chance is None or (figure.chance == 0.0 and figure.lower is not None and figure.lower < 0.0):
        return ""
    return intervals_picture(f"{figure.name}, {figure.unit}", {"": figure})


def intervals_picture(title: str, figures: Mapping[str, Measurement]) -> Html | str:
    """Return the picture of one figure of several agents by their names, a row each; empty where nothing is known."""
    marks = [mark for one in figures.values() for mark in (one.value, one.lower, one.upper) if mark is not None]
    chance = next((one.chance for one in figures.values() if one.chance is not None), None)
    longest = _LONGER * max([chance or 0.0, *marks]) if marks else 0.0
    if longest <= 0.0:
        return ""
    bottom = _TITLE + _ROW * len(figures)
    parts = [_text(0.0, _TITLE, title, "start")]
    levels = {"nothing gained": 0.0} | ({} if chance is None else {f"random play {number(chance)}": chance})
    for row, (name, figure) in enumerate(figures.items(), 1):
        y = _TITLE + _ROW * row
        parts += _draw_row(name, figure, y, longest)
        parts += (_tick(_place(level, longest), y, "1") for level in levels.values())
    for line, (text, level) in enumerate(levels.items(), 1):
        parts.append(_text(_place(level, longest), bottom + _BAND + 18 * line, text))
    return element(
        "svg",
        *parts,
        width="100%",
        height=str(bottom + _BAND + 42),
        role="img",
        style=f"max-width: {_WIDTH}px; display: block",
        aria_label=f"{title}: intervals of {len(figures)} on a line from 0 to {number(longest)}",
    )


def _place(value: float, longest: float) -> float:
    return round(_EDGE + (100.0 - 2.0 * _EDGE) * max(0.0, value) / longest, 2)


def _draw_row(name: str, figure: Measurement, y: float, longest: float) -> Iterator[Html]:
    """Yield the line of a figure with its interval, its value and its name."""
    lower = _place(0.0 if figure.lower is None else figure.lower, longest)
    upper = _place(longest if figure.upper is None else figure.upper, longest)
    yield _line(_place(0.0, longest), y, _place(longest, longest), y, "1")
    if any(mark is not None for mark in (figure.value, figure.lower, figure.upper)):
        yield element(
            "rect",
            x=f"{lower}%",
            y=str(y - _BAND),
            width=f"{round(max(0.2, upper - lower), 2)}%",
            height=str(2 * _BAND),
            fill="currentColor",
            fill_opacity="0.25",
        )
    value = "" if figure.value is None else number(figure.value)
    if figure.value is not None:
        yield _tick(_place(figure.value, longest), y, "3")
    if name or value:
        at = 0.0 if name or figure.value is None else _place(figure.value, longest)
        yield _text(at, y - _BAND - 5, f"{name} {value}".strip(), "start" if name else "")


def _tick(x: float, y: float, width: str) -> Html:
    return _line(x, y - _BAND, x, y + _BAND, width)


def _line(x1: float, y1: float, x2: float, y2: float, width: str) -> Html:
    ends = {"x1": f"{x1}%", "y1": str(y1), "x2": f"{x2}%", "y2": str(y2)}
    return element("line", **ends, stroke="currentColor", stroke_width=width)


def _text(x: float, y: float, text: str, anchor: str = "") -> Html:
    inside = "start" if x < _SIDE else "end" if x > 100.0 - _SIDE else "middle"
    return element("text", text, x=f"{x}%", y=str(y), fill="currentColor", text_anchor=anchor or inside, font_size="13")
