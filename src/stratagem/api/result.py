"""Result: figures that print as a table, plot, become a data frame, and save as JSON."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.table import Table

from stratagem.api.arguments import as_path
from stratagem.api.console import Text, plain
from stratagem.api.json_file import write_json
from stratagem.api.mistakes import one_sentence
from stratagem.api.tables import table
from stratagem.engines.outcomes import OutcomesByModel
from stratagem.engines.remote.terms import current
from stratagem.errors import StratagemError
from stratagem.games.base import Json
from stratagem.reports.html import Html, element, join

if TYPE_CHECKING:
    from pandas import DataFrame
    from plotly.graph_objects import Figure

__all__ = ["Grid", "Result"]


class Grid(NamedTuple):
    """Table of texts for a reader: columns of texts, then columns of figures."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    figures: bool = True
    """False where other columns are texts, too."""
    texts: int = 1
    """Number of columns of texts before those of figures."""


class Result(ABC):
    """Figures of one call: tables for a reader, rows for a program."""

    @abstractmethod
    def grids(self) -> list[Grid]:
        """Return the tables for a reader."""

    def remarks(self) -> list[str]:
        """Return sentences that belong to the tables, with parameters of functions as in `seed=1`."""
        return []

    @abstractmethod
    def rows(self) -> list[Json]:
        """Return the figures in long form, one row a figure."""

    @abstractmethod
    def to_json(self) -> Any:
        """Return all figures as plain data, as the command line prints them with `--json`."""

    @one_sentence
    def to_pandas(self) -> DataFrame:
        """Return the rows as a data frame."""
        try:
            from pandas import DataFrame
        except ImportError:
            raise StratagemError("to_pandas needs pandas, which is not installed: pip install pandas.") from None
        return DataFrame(self.rows())

    @one_sentence
    def save(self, path: str | Path) -> Path:
        """Write all figures as a JSON file, and return its path."""
        target = as_path(path, "file")
        write_json(self.to_json(), target)
        return target

    def __repr__(self) -> str:
        return plain(*map(as_table, self.grids()), *map(Text, self.remarks()))

    def _repr_html_(self) -> str:
        return join(*map(_html, self.grids()), *map(_paragraph, self.remarks()))


def remarks_on(outcomes: OutcomesByModel) -> list[str]:
    """Return the shares of failed, refused and filtered requests, and the sentence about too many failures."""
    return [*outcomes.remarks(), *filter(None, [outcomes.too_many(current().max_failed)])]


class Plotted(Result):
    """Result with a picture."""

    @abstractmethod
    def plot(self) -> Figure:
        """Return the figures as a picture of plotly."""


def as_table(grid: Grid) -> Table:
    """Return a grid as a table of rich."""
    printed = table(grid.title, *grid.columns, numbers=grid.figures)
    for column in printed.columns[: grid.texts]:
        column.justify = "left"
    for row in grid.rows:
        printed.add_row(*map(Text, row))
    return printed


def _paragraph(text: str) -> Html:
    return element("p", text, style="white-space: pre-line")


def _html(grid: Grid) -> Html:
    """Return a table of HTML; its texts are escaped, for names and replies come from anybody."""
    head = element("tr", *(element("th", name) for name in grid.columns))
    body = (element("tr", *(element("td", text) for text in row)) for row in grid.rows)
    return element("table", element("caption", grid.title), element("thead", head), element("tbody", *body))
