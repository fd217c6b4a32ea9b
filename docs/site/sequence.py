"""Mermaid's sequence diagrams as SVG, so that the site needs no script and no network.

It reads what the pages use: `participant X as Name`, and messages `X->>Y: text`.
"""

from __future__ import annotations

import re
from html import escape

_BLOCK = re.compile(r"```mermaid\nsequenceDiagram\n(.*?)```", re.DOTALL)
_PARTICIPANT = re.compile(r"\s*participant (\w+) as (.+)")
_MESSAGE = re.compile(r"\s*(\w+)->>(\w+): (.+)")
COLUMN, ROW, HEAD, MARGIN = 130, 34, 44, 60


def drawn(page: str) -> str:
    """Replace every sequence diagram of a page by its picture."""
    return _BLOCK.sub(lambda found: f"```{{raw}} html\n{picture(found[1])}\n```", page)


def picture(source: str) -> str:
    """Draw one diagram; its lines and words have the colour of the text around them."""
    participants: dict[str, str] = {}
    messages: list[tuple[str, str, str]] = []
    for line in source.strip().splitlines():
        if named := _PARTICIPANT.fullmatch(line):
            participants[named[1]] = named[2].strip()
        elif sent := _MESSAGE.fullmatch(line):
            messages.append((sent[1], sent[2], sent[3].strip()))
        else:
            raise ValueError(f"{line.strip()!r} is neither a participant nor a message of a sequence diagram.")
    places = {name: MARGIN + COLUMN * number for number, name in enumerate(participants)}
    # The words of a message to itself stand to the right of the last column.
    width, height = MARGIN + COLUMN * len(places) + MARGIN, HEAD + ROW * len(messages) + 30
    columns = "".join(_column(participants[name], x, height) for name, x in places.items())
    arrows = "".join(
        _arrow(places[one], places[other], HEAD + ROW * (row + 1), text)
        for row, (one, other, text) in enumerate(messages)
    )
    told = escape("; ".join(f"{participants[one]} to {participants[other]}: {text}" for one, other, text in messages))
    return (
        f'<svg class="sequence" role="img" aria-label="{told}" viewBox="0 0 {width} {height}" '
        f'font-size="12" fill="currentColor" stroke="none">{columns}{arrows}</svg>'
    )


def _column(name: str, x: int, height: int) -> str:
    return (
        f'<rect x="{x - 50}" y="8" width="100" height="24" rx="4" fill="none" stroke="currentColor"/>'
        f'<text x="{x}" y="24" text-anchor="middle">{escape(name)}</text>'
        f'<line x1="{x}" y1="32" x2="{x}" y2="{height - 10}" stroke="currentColor" stroke-dasharray="3 4"/>'
    )


def _arrow(start: int, end: int, y: int, text: str) -> str:
    if start == end:
        path = f"M{start} {y - 8} h26 v10 h-20"
        head, place, anchor = f"M{start + 1} {y + 2} l8 -4 v8 z", start + 32, "start"
    else:
        sign = 1 if end > start else -1
        path = f"M{start} {y} H{end - 6 * sign}"
        head, place, anchor = f"M{end} {y} l{-8 * sign} -4 v8 z", (start + end) // 2, "middle"
    words = f'<text x="{place}" y="{y - 6 if start != end else y}" text-anchor="{anchor}">{escape(text)}</text>'
    return f'<path d="{path}" fill="none" stroke="currentColor"/><path d="{head}"/>{words}'
