"""Picture of an exploitability: its interval on a line from 0, where nothing is gained, past random play."""

from __future__ import annotations

from stratagem.measure.audit.measurement import Measurement
from stratagem.show.cells import number
from stratagem.show.html import Html, element

_WIDTH, _HEIGHT, _EDGE = 640, 92, 60
_LINE, _BAND = 54, 12
"""Height of the line in the picture, and half of the height of the interval."""
_LONGER = 1.1
"""Length of the line as a multiple of its largest figure."""


def interval_picture(figure: Measurement) -> Html | str:
    """Return the picture of a figure; empty where there is none, or nothing to compare it with."""
    marks = [mark for mark in (figure.value, figure.lower, figure.upper) if mark is not None]
    if figure.chance is None or not marks:
        return ""
    longest = _LONGER * max(figure.chance, *marks)
    if longest <= 0.0:
        return ""

    def place(value: float) -> float:
        return round(_EDGE + (_WIDTH - 2 * _EDGE) * max(0.0, value) / longest, 1)

    lower = place(0.0 if figure.lower is None else figure.lower)
    upper = place(longest if figure.upper is None else figure.upper)
    parts = [
        _text(0.0, 14.0, f"{figure.name}, {figure.unit}", "start"),
        _line(place(0.0), _LINE, place(longest), _LINE, "1"),
        element(
            "rect",
            x=str(lower),
            y=str(_LINE - _BAND),
            width=str(round(max(1.0, upper - lower), 1)),
            height=str(2 * _BAND),
            fill="currentColor",
            fill_opacity="0.25",
        ),
        *_mark(place(0.0), "nothing gained"),
        *_mark(place(figure.chance), f"random play {number(figure.chance)}"),
    ]
    if figure.value is not None:
        parts.append(_line(place(figure.value), _LINE - _BAND, place(figure.value), _LINE + _BAND, "3"))
        parts.append(_text(place(figure.value), _LINE - _BAND - 8, number(figure.value)))
    label = f"{figure.name} on a line from 0 to {number(longest)} {figure.unit}"
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        width=str(_WIDTH),
        role="img",
        style="max-width: 100%",
        aria_label=label,
    )


def _mark(x: float, text: str) -> tuple[Html, Html]:
    return _line(x, _LINE - 6, x, _LINE + 6, "1"), _text(x, _LINE + _BAND + 18, text)


def _line(x1: float, y1: float, x2: float, y2: float, width: str) -> Html:
    ends = {"x1": str(x1), "y1": str(y1), "x2": str(x2), "y2": str(y2)}
    return element("line", **ends, stroke="currentColor", stroke_width=width)


def _text(x: float, y: float, text: str, anchor: str = "middle") -> Html:
    return element("text", text, x=str(x), y=str(y), fill="currentColor", text_anchor=anchor, font_size="13")
