"""Result: figures that print as a table, plot, become a data frame, and save as JSON."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType

from stratagem.api.arguments import as_path
from stratagem.api.json_file import write_json
from stratagem.api.mistakes import one_sentence
from stratagem.engines.outcomes import OutcomesByModel
from stratagem.engines.remote.terms import current
from stratagem.errors import StratagemError
from stratagem.games.base import Json
from stratagem.show.console import Text, plain
from stratagem.show.html import Html, element, join
from stratagem.show.legend import explain, wrap_lines
from stratagem.show.markup import table_html
from stratagem.show.table import Table
from stratagem.show.terminal import terminal_table

if TYPE_CHECKING:
    from pandas import DataFrame
    from plotly.graph_objects import Figure

__all__ = ["Result"]


class Result(ABC):
    """Figures of one call: tables for a reader, rows for a program."""

    @abstractmethod
    def tables(self) -> list[Table]:
        """Return all tables for a reader, their figures as the catalogue declares them."""

    def main_tables(self) -> list[Table]:
        """Return the tables that are printed unless all are requested."""
        return [table for table in self.tables() if table.main]

    def legend(self, tables: Sequence[Table]) -> list[str]:
        """Return the sentences that explain the figures of these tables, which are printed below them."""
        return explain(tables)

    def remarks(self) -> list[str]:
        """Return further sentences of the result, with parameters of functions as in `seed=1`."""
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

    def text(self, *, everything: bool = False) -> str:
        """Return the main tables as a terminal shows them, or all tables with `everything`."""
        tables = self.tables() if everything else self.main_tables()
        shown: list[RenderableType] = []
        for table in tables:
            shown += [terminal_table(table), *map(Text, sentences_of(table))]
        return plain(*shown, *self._below(tables))

    def _below(self, tables: Sequence[Table]) -> list[Text]:
        """Return the legend and the remarks under an empty line."""
        sentences = [*wrap_lines(self.legend(tables)), *self.remarks()]
        return list(map(Text, ["", *sentences] if tables and sentences else sentences))

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        tables = self.main_tables()
        return join(*map(table_html, tables), *map(_paragraph, [*self.legend(tables), *self.remarks()]))


def sentences_of(table: Table) -> tuple[str, ...]:
    """Return the notes and the warnings of a table."""
    return (*table.notes, *(f"warning: {warning}" for warning in table.warnings))


def remarks_on(outcomes: OutcomesByModel) -> list[str]:
    """Return the shares of failed, refused and filtered requests, and the sentence about too many failures."""
    return [*outcomes.remarks(), *filter(None, [outcomes.too_many(current().max_failed)])]


class Plotted(Result):
    """Result with a picture."""

    @abstractmethod
    def plot(self) -> Figure:
        """Return the figures as a picture of plotly."""


def _paragraph(text: str) -> Html:
    return element("p", text, style="white-space: pre-line")
