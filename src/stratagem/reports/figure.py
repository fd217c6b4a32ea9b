"""Picture: plotly's traces as data in the page, drawn by the page's script in the colours of its theme.

A trace names its colour by role (`"role": "chosen"`), so the page can be light or dark; titles stand in the page and
not in the picture, where plotly would read tags.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from stratagem.reports.html import Html, as_json, element, join, visible

Trace = Mapping[str, Any]


def picture(
    title: str, traces: Sequence[Trace], layout: Mapping[str, Any] | None = None, *, caption: str = "", kind: str = ""
) -> Html:
    """Make a picture with its title and a description below; by default its vertical axis includes 0."""
    layout = {"yaxis": {"rangemode": "tozero"}} | dict(layout or {})
    return element(
        "figure",
        join(
            element("figcaption", title),
            element("div", class_="canvas", role="img", aria_label=f"{title}. {caption}"),
            element("script", as_json({"traces": traces, "layout": layout}), type="application/json"),
            element("p", caption, class_="caption") if caption else "",
        ),
        class_=f"plot {kind}".strip(),
    )


def label(words: str) -> str:
    """Escape a text for plotly."""
    return escape(visible(words))
