"""Figures of a result as a flat list, and texts without what differs from call to call."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from typing import Any, NamedTuple

LABELS = ("game", "player", "opponent", "agent", "pair", "channel", "seat", "figure", "name", "step", "label")
"""Keys whose values name a row of a list, in the order in which they are joined."""
LEFT_OUT = {
    *("made_by", "provenance", "version", "versions", "commit", "created", "started", "finished", "digest"),
    *("page", "path", "folder", "file", "bytes", "id", "run", "seed", "ms", "seconds", "seconds_per_step", "hours"),
    *("timings", "wall", "tokens_per_second", "episodes_per_second", "versions_of", "status", "machine", "schema"),
}
"""Keys of times, paths, names of runs and versions."""
MS = re.compile(r"^ *player .*reply tokens +ms *$")


class Figure(NamedTuple):
    """One figure of a result on one face."""

    face: str
    """`json` of a command, or `python` of a function."""
    row: str
    """Names of the rows that lead to the figure, from the outermost inwards."""
    key: str
    """Path of keys from the result to the figure."""
    value: str
    """Number as `float.hex()`, or `true`, `false`, `none`."""


def flat_figures(face: str, data: Any, mask: Mapping[str, str]) -> list[Figure]:
    """Return every number, truth value and null of a result."""
    return [Figure(face, masked(" / ".join(row), mask), masked(key, mask), value) for row, key, value in _walk(data)]


def masked(text: str, mask: Mapping[str, str]) -> str:
    """Replace folders and addresses of this call by words."""
    for found, word in mask.items():
        text = text.replace(found, word)
    return " ".join(text.split("\n")).replace("\t", " ")


def _walk(data: Any, row: tuple[str, ...] = (), key: str = "") -> Iterator[tuple[tuple[str, ...], str, str]]:
    if isinstance(data, Mapping):
        for name, value in data.items():
            if str(name) not in LEFT_OUT:
                yield from _walk(value, row, f"{key}.{name}" if key else str(name))
    elif isinstance(data, Sequence) and not isinstance(data, str):
        for label, value in zip(_labels(data), data, strict=True):
            yield from _walk(value, (*row, label), key)
    elif (text := _number(data)) is not None:
        yield row, key, text


def _number(value: Any) -> str | None:
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return float(value).hex() if isinstance(value, int | float) else None


def _labels(items: Sequence[Any]) -> list[str]:
    """Name the items of a list by their labels, and by their number where these are none or equal."""
    found = [_label(item) for item in items]
    counts = Counter(found)
    return [text if text and counts[text] == 1 else f"{text}#{at}" for at, text in enumerate(found)]


def _label(item: Any) -> str:
    if not isinstance(item, Mapping):
        return ""
    return ", ".join(str(item[name]) for name in LABELS if isinstance(item.get(name), str | int))


def plain_lines(text: str, mask: Mapping[str, str]) -> list[str]:
    """Return a printed text with single spaces, without the column of times and without sizes of files."""
    lines, cut = [], 0
    for line in text.splitlines():
        if MS.match(line):
            cut = line.rindex("reply tokens") + len("reply tokens")
        elif line.startswith("  ") or not line.strip():
            cut = 0
        kept = masked(" ".join((line[:cut] if cut else line).split()), mask)
        lines.append(re.sub(r": \d+ kB\b", ": N kB", kept))
    return [line for line in lines if line]


class PageTables(HTMLParser):
    """Headings and tables of a page, a line each row."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._cells: list[str] | None = None
        self._text: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self._cells = []
        elif tag in ("td", "th", "h1", "h2", "h3", "caption"):
            self._text = []

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "h1", "h2", "h3", "caption") and self._text is not None:
            text, self._text = " ".join("".join(self._text).split()), None
            (self.lines if self._cells is None else self._cells).append(text)
        elif tag == "tr" and self._cells is not None:
            self.lines.append(" ".join(" | ".join(self._cells).split()))
            self._cells = None


def page_lines(html: str, mask: Mapping[str, str]) -> list[str]:
    """Return the headings and the rows of the tables of a page."""
    page = PageTables()
    page.feed(html)
    return [kept for line in page.lines if (kept := masked(line, mask).strip())]
