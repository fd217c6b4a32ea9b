"""Section of a report: a title, one sentence about its content, and its body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from stratagem.show.html import Html, breakable, element, join
from stratagem.show.reports.run_data import RunData


@dataclass(frozen=True)
class Section:
    """One section of the page."""

    name: str
    """Anchor in the page."""
    title: str
    shows: str
    """Description in one sentence."""
    body: Html

    def html(self) -> Html:
        """Return the section's markup."""
        return element(
            "section",
            join(element("h2", self.title), element("p", self.shows, class_="shows"), self.body),
            id=self.name,
        )


Maker = Callable[[RunData], Section | None]
"""Function that makes a section of a run; None where the section does not apply."""


def missing(sentence: str) -> Html:
    """Write the body of an empty section, with the reason."""
    return element("p", sentence, class_="missing")


def fold_element(title: str, *body: str) -> Html:
    """Write an element that opens when its title is pressed."""
    return element("details", join(element("summary", title), *body))


def table(headings: list[str], rows: list[list[str]], *, caption: str = "", classes: Sequence[str] = ()) -> Html:
    """Write a table that scrolls by itself where it is too wide; `classes` are the rows', a `<td>` is not escaped."""
    top = element("thead", element("tr", *(element("th", name, scope="col") for name in headings)))
    named = zip_longest(rows, classes, fillvalue="")
    body = element("tbody", *(element("tr", *_cells(list(row)), class_=own or False) for row, own in named))
    caption_html = element("caption", caption) if caption else ""
    return element(
        "div", element("table", caption_html, top if any(headings) else "", body), class_="scroll", tabindex="0"
    )


def _cells(row: list[str]) -> list[Html]:
    first, *rest = row
    own = [cell if isinstance(cell, Html) and cell.startswith("<td") else element("td", cell) for cell in rest]
    return [element("th", breakable(first), scope="row"), *own]
