"""A section of a report: a title, one sentence about what it shows, and its body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from stratagem.reports.html import Html, element, join
from stratagem.reports.run_data import RunData


@dataclass(frozen=True)
class Section:
    """One section, as it stands on the page."""

    name: str
    """Its address in the page."""
    title: str
    shows: str
    """What it shows, in one sentence."""
    body: Html

    def html(self) -> Html:
        """The section's markup."""
        return element(
            "section",
            join(element("h2", self.title), element("p", self.shows, class_="shows"), self.body),
            id=self.name,
        )


Maker = Callable[[RunData], Section | None]
"""Makes a section of a run; None where such a run has nothing of the kind."""


def missing(sentence: str) -> Html:
    """The body of a section that has nothing to show, with the reason."""
    return element("p", sentence, class_="missing")


def folded(title: str, *body: str) -> Html:
    """Something that opens when its title is pressed."""
    return element("details", join(element("summary", title), *body))


def table(headings: list[str], rows: list[list[str]], *, caption: str = "", classes: Sequence[str] = ()) -> Html:
    """A table that scrolls by itself where it is too wide; `classes` are the rows', a `<td>` is taken as it is."""
    top = element("thead", element("tr", *(element("th", name, scope="col") for name in headings)))
    named = zip_longest(rows, classes, fillvalue="")
    body = element("tbody", *(element("tr", *_cells(list(row)), class_=own or False) for row, own in named))
    told = element("caption", caption) if caption else ""
    return element("div", element("table", told, top if any(headings) else "", body), class_="scroll", tabindex="0")


def _cells(row: list[str]) -> list[Html]:
    first, *rest = row
    own = [cell if isinstance(cell, Html) and cell.startswith("<td") else element("td", cell) for cell in rest]
    return [element("th", first, scope="row"), *own]
