"""Picture: traces as data in the page, drawn as SVG by the page's script in the colours of its theme.

A trace names its colour by role (`"role": "chosen"`), so the page can be light or dark. Under each picture stand the
unit, the number of observations, the interval and the chance level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from stratagem.show.html import Html, as_json, element, join, visible

Trace = Mapping[str, Any]
ONE_RUN = "none, one run"
NO_CHANCE = "none"


class PictureFacts(NamedTuple):
    """Facts without which the figures of a picture cannot be read."""

    unit: str
    n: str
    """Number of observations, and of what."""
    interval: str = ONE_RUN
    chance: str = NO_CHANCE
    """Value for random play, or the reason why there is none."""

    @property
    def sentence(self) -> str:
        """The facts in a line."""
        return f"Unit: {self.unit or 'none'}. n: {self.n}. Interval: {self.interval}. Chance level: {self.chance}."


def picture(
    title: str,
    traces: Sequence[Trace],
    layout: Mapping[str, Any] | None = None,
    *,
    reading: PictureFacts,
    caption: str = "",
    kind: str = "",
) -> Html:
    """Make a picture with its title, its facts and a description; by default its vertical axis includes 0."""
    layout = {"yaxis": {"rangemode": "tozero"}} | dict(layout or {})
    described = " ".join(filter(None, (caption, reading.sentence)))
    return element(
        "figure",
        join(
            element("figcaption", title),
            element("div", class_="canvas", role="img", aria_label=f"{title}. {described}"),
            element("script", as_json({"traces": traces, "layout": layout}), type="application/json"),
            element("p", caption, class_="caption") if caption else "",
            element("p", reading.sentence, class_="caption reading"),
        ),
        class_=f"plot {kind}".strip(),
    )


def label(words: str) -> str:
    """Return a text for a picture, which shows it as text."""
    return visible(words)


def count_noun(number: int, noun: str = "step") -> str:
    """Return a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
