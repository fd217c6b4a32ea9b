"""Markdown of tables and sentences, as pages of code hosts show it; nothing in a text is markup or invisible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from stratagem.base.visible import visible
from stratagem.show.cells import pieces_of
from stratagem.show.table import ResultTable, heading_of, is_numeric

_LONGEST = 200
"""Number of characters of a text in a table."""
_MARKS = re.compile(r"([\\`*_{}\[\]()<>#|~!&$@]|:(?=//)|(?<=www)\.)", re.IGNORECASE)
"""Marks, and the places by which code hosts make links of bare addresses."""


def escape_text(text: str) -> str:
    """Write a text on one line, in which nothing is markup, a link, a mention or invisible."""
    return _MARKS.sub(r"\\\1", visible(" / ".join(text.splitlines())))


def escape_cell(text: str) -> str:
    """Write a text into a table, cut where it is long."""
    return escape_text(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")


def markdown_table(table: ResultTable) -> str:
    """Write a table under its title, with its notes and warnings below."""
    lines = [f"**{escape_text(table.title)}**", ""] if table.title else []
    lines.append(_row(heading_of(column) for column in table.columns))
    lines.append(f"|{'|'.join(' ---: ' if is_numeric(column) else ' --- ' for column in table.columns)}|")
    for row in table.rows:
        cells = (pieces_of(value, table.digits_of(row, place)) for place, value in enumerate(row.values))
        lines.append(_row("".join(f"{part.figure} {part.error}".strip() for part in cell) for cell in cells))
    return "\n".join([*lines, *(f"\n{escape_text(note)}" for note in (*table.notes, *table.warnings))])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(escape_cell, cells))} |"


def markdown_list(sentences: Iterable[str]) -> Iterator[str]:
    """Write each sentence as an item of a list; one that is indented belongs to the item above it."""
    for sentence in sentences:
        text = sentence.lstrip()
        yield f"{' ' * (len(sentence) - len(text))}- {escape_text(text)}"
