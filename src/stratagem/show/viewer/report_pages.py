"""Report of a run as pages: its sections as data, from which a page of the viewer builds elements.

A page never reads HTML from a text. So the markup of a section becomes a tree of tags. What a report has no use for,
such as a script or an address, is left out of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from stratagem.base.errors import UnknownName
from stratagem.base.files import parse_json
from stratagem.games.base import Json
from stratagem.playing.store import shards
from stratagem.show.html import Html
from stratagem.show.reports.report import FILE, report_of
from stratagem.show.viewer.episode_index import stamp
from stratagem.show.viewer.library import Library
from stratagem.show.viewer.parameters import require_parameter
from stratagem.training.runs.folder import RunFolder

SUMMARY = "summary"
"""Name of the first page: the verdict and the figures at the head of the report."""
_TAGS = frozenset((
    *("a", "article", "b", "br", "caption", "code", "col", "colgroup", "dd", "details", "div", "dl", "dt", "em"),
    *("figcaption", "figure", "h3", "h4", "header", "i", "li", "mark", "ol", "p", "pre", "small", "span", "strong"),
    *("sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul", "wbr"),
))  # fmt: skip
_ATTRIBUTES = frozenset(
    ("class", "title", "scope", "colspan", "rowspan", "role", "tabindex", "open", "dir", "lang", "start")
)
_VOID = frozenset({"br", "col", "wbr"})
_PLOT = "plot"
"""Class of a picture; the data of its traces are in a script element that is no program."""
Tree = list[Any]
"""A tag, its attributes and its children, which are trees and texts."""


def report_page(library: Library, asked: Mapping[str, str]) -> Json:
    """Return the names of the sections of a run's report, and one of them as a tree."""
    run, wanted = library.run(require_parameter(asked, "run")), asked.get("section") or SUMMARY
    pages = _pages(run.path, _stamps(run))
    if wanted not in pages:
        raise UnknownName("section of this report", wanted, pages)
    file = (run.path / FILE).relative_to(library.root).as_posix()
    return {**report_json(pages, wanted), "path": str(run.path), "file": file if file in library.pages else None}


def report_json(pages: Mapping[str, Json], wanted: str) -> Json:
    """Return one page of a report with the names and the titles of all."""
    names = [{"name": name, "title": page["title"]} for name, page in pages.items()]
    return {"sections": names, "section": {"name": wanted, **pages[wanted]}}


def report_pages(run: RunFolder) -> dict[str, Json]:
    """Return all pages of a run's report by name."""
    return _pages(run.path, _stamps(run))


@lru_cache(maxsize=8)
def _pages(path: Path, stamps: tuple[Any, ...]) -> dict[str, Json]:
    """Make the report again where a file of the run has changed."""
    report = report_of(RunFolder(path))
    head = {"title": "Summary", "shows": "", "body": tree_of(report.summary)}
    own = {one.name: {"title": one.title, "shows": one.shows, "body": tree_of(one.body)} for one in report.sections}
    return {SUMMARY: head, **own}


def _stamps(run: RunFolder) -> tuple[Any, ...]:
    """Return the files of a run with their times and sizes, and the newest shard of its record."""
    files = []
    for path in sorted(run.path.iterdir()):
        with suppress(OSError):  # it has just been replaced
            status = path.stat()
            files.append((path.name, status.st_mtime_ns, status.st_size))
    newest = max(shards(run.record), default=None)
    return run.status().state, *files, newest, None if newest is None else stamp(run.record, newest)


def tree_of(markup: Html) -> Tree:
    """Return the children of a piece of markup as trees and texts."""
    reader = _MarkupReader()
    reader.feed(markup)
    reader.close()
    return reader.children


class _MarkupReader(HTMLParser):
    """Reader of the markup of a section; tags and attributes that it does not know are left out."""

    def __init__(self) -> None:
        super().__init__()
        self.children: Tree = []
        self._open: list[tuple[str, Tree]] = []
        self._script: list[str] | None = None
        """Texts of the script or style element that is open."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in ("script", "style"):
            self._script = []
        elif tag in _TAGS:
            node = [tag, {name: value for name, value in given.items() if _is_kept(name, value)}]
            self._place.append(node)
            if tag not in _VOID:
                self._open.append((tag, node))

    def handle_endtag(self, tag: str) -> None:
        if self._script is not None:
            self._keep("".join(self._script))
            self._script = None
        elif any(name == tag for name, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        (self._place if self._script is None else self._script).append(data)

    @property
    def _place(self) -> Tree:
        return self._open[-1][1] if self._open else self.children

    def _keep(self, text: str) -> None:
        """Keep the data of a picture as its attribute; any other script is left out."""
        node = self._open[-1][1] if self._open else []
        if node and node[0] == "figure" and _PLOT in node[1].get("class", "").split():
            with suppress(ValueError):
                node[1]["data"] = parse_json(text)


def _is_kept(name: str, value: str) -> bool:
    """Return whether a page shows an attribute: a link leads to a section of the report only."""
    return name in _ATTRIBUTES or name.startswith("aria-") or (name == "href" and value.startswith("#"))
