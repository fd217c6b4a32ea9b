"""Result: figures that print as a table, plot, become a data frame, and save as JSON."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType

from stratagem.api.arguments import as_path
from stratagem.api.mistakes import one_sentence
from stratagem.api.pictures import bars, matrix
from stratagem.base.errors import StratagemError
from stratagem.base.files import write_file, write_json
from stratagem.games.base import Json
from stratagem.language.engines.outcomes import OutcomesByModel
from stratagem.language.engines.remote.terms import current
from stratagem.show.console import VisibleText, plain
from stratagem.show.html import Html, element, join
from stratagem.show.legend import explain, explain_marks, wrap_lines
from stratagem.show.markdown import escape_text, markdown_list, markdown_table
from stratagem.show.markup import table_html
from stratagem.show.series import choose
from stratagem.show.table import ResultTable
from stratagem.show.terminal import terminal_table

if TYPE_CHECKING:
    from pandas import DataFrame
    from plotly.graph_objects import Figure


__all__ = ["Result"]


class Result(ABC):
    """Figures of one call: tables for a reader, rows for a program."""

    _marks: ClassVar[bool] = True
    """False where limits in the tables are no 95 % intervals, so that the legend has no sentence about marks."""

    @abstractmethod
    def tables(self) -> list[ResultTable]:
        """Return all tables for a reader, their figures as the catalogue declares them."""

    def main_tables(self) -> list[ResultTable]:
        """Return the tables that are printed unless all are requested."""
        return [table for table in self.tables() if table.main]

    def first_lines(self) -> list[str]:
        """Return the sentences above the tables: what a reader must know who reads nothing else."""
        return []

    def legend(self, tables: Sequence[ResultTable]) -> list[str]:
        """Return the sentences that explain the figures of these tables, which are printed below them."""
        return [*explain(tables), *(explain_marks(tables) if self._marks else [])]

    def remarks(self) -> list[str]:
        """Return further sentences of the result, with parameters of functions as in `seed=1`."""
        return []

    @property
    def files(self) -> list[Path]:
        """Files for a reader that the call wrote."""
        return []

    @property
    def exit_status(self) -> int:
        """Status with which the command ends that prints the result."""
        return 0

    @abstractmethod
    def rows(self) -> list[Json]:
        """Return the figures in long form, one row a figure."""

    def to_json(self) -> Any:
        """Return all figures as plain data, as the command line prints them with `--json`: the rows, unless more."""
        return self.rows()

    def forms(self) -> Mapping[str, Callable[[Path], object]]:
        """Return what writes other kinds of files than JSON, by the ending of their paths."""
        return {}

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
        """Write all figures as JSON, or in the form that the ending of the path names, and return the path."""
        target = as_path(path, "file")
        if (write := self.forms().get(target.suffix)) is not None:
            write(target)
        elif target.suffix == ".md":
            write_file(target, self.markdown())
        else:
            write_json(self.to_json(), target)
        return target

    def markdown(self) -> str:
        """Return the main tables and the sentences as Markdown."""
        tables = self.main_tables()
        above, below = map(escape_text, self.first_lines()), markdown_list(self.remarks())
        return "\n\n".join([*above, *map(markdown_table, tables), "\n".join(below)]).strip() + "\n"

    def text(self, *, everything: bool = False) -> str:
        """Return the main tables as a terminal shows them, or all tables with `everything`."""
        tables = self.tables() if everything else self.main_tables()
        shown: list[RenderableType] = [VisibleText(line) for line in self._above(tables)]
        for table in tables:
            shown += [terminal_table(table), *map(VisibleText, sentences_of(table))]
        return plain(*shown, *self._below(tables))

    def _above(self, tables: Sequence[ResultTable]) -> list[str]:
        """Return the first lines with an empty one under them."""
        lines = wrap_lines(self.first_lines())
        return [*lines, ""] if tables and lines else lines

    def _below(self, tables: Sequence[ResultTable]) -> list[VisibleText]:
        """Return the legend and the remarks under an empty line."""
        sentences = [*wrap_lines(self.legend(tables)), *self.remarks()]
        return list(map(VisibleText, ["", *sentences] if tables and sentences else sentences))

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        tables = self.main_tables()
        above = map(_paragraph, self.first_lines())
        return join(*above, *map(table_html, tables), *map(_paragraph, [*self.legend(tables), *self.remarks()]))


def sentences_of(table: ResultTable) -> tuple[str, ...]:
    """Return the notes and the warnings of a table."""
    return (*table.notes, *(f"warning: {warning}" for warning in table.warnings))


def remarks_on(outcomes: OutcomesByModel) -> list[str]:
    """Return the shares of failed, refused and filtered requests, and the sentence about too many failures."""
    return [*outcomes.remarks(), *filter(None, [outcomes.too_many(current().max_failed)])]


class PlottedResult(Result):
    """Result whose figures have a picture, as its tables declare them."""

    @one_sentence
    def plot(self, figure: str = "", /) -> Figure:
        """Draw a figure of the tables by its key, with its interval and its null; by default the exploitability.

        Without one it is the first figure with an interval, or the cross-play of a tournament.
        """
        tables = self.tables()
        square = next((table for table in tables if table.matrix), None)
        if square is not None and not figure:
            return matrix(square)
        return bars(choose(tables, figure))


@dataclass(frozen=True, repr=False)
class PlayedResult(PlottedResult):
    """Figures of games that models may have played, with the requests to these."""

    outcomes: OutcomesByModel = field(default_factory=OutcomesByModel, kw_only=True)
    """Requests behind the figures by model: their number, and how many had no reply, were refused or filtered."""

    def remarks(self) -> list[str]:
        """Return the shares of requests that had no reply, were refused or filtered."""
        return remarks_on(self.outcomes)


def _paragraph(text: str) -> Html:
    return element("p", text, style="white-space: pre-line")
