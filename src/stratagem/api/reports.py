"""Reports: `report` writes a run, an evaluation, a tournament or a record as one HTML page."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from stratagem.api.arguments import as_path
from stratagem.api.evaluations import Evaluation
from stratagem.api.mistakes import one_sentence
from stratagem.api.progress import show_progress
from stratagem.api.records import Record
from stratagem.api.result import Result
from stratagem.api.runs import Run
from stratagem.api.sweeps import PAGE as SWEEP_PAGE
from stratagem.api.tournaments import Tournament
from stratagem.base.errors import BadParameter, WrongKind
from stratagem.base.files import finite, write_file
from stratagem.games.base import Json
from stratagem.show.table import ResultTable, text_table
from stratagem.training.runs.folder import RunFolder

Reported: TypeAlias = str | Path | Run | Record | Evaluation | Tournament
"""The folder of a run or of a record, a file of figures, or one of them as an object."""

__all__ = ["ReportPage", "Reported", "report"]


@dataclass(frozen=True, repr=False)
class ReportPage(Result):
    """Page of a report, with its figures as data. The pictures are in the page."""

    path: Path
    """File of the page."""
    summary: Json
    """Figures of the page."""
    damage: tuple[str, ...] = ()
    """Sentences about files of the record that are cut or missing."""

    def rows(self) -> list[Json]:
        """Return one row: the page and its size."""
        return [{"page": str(self.path), "bytes": self.path.stat().st_size}]

    def to_json(self) -> Json:
        """Return the page and its figures, as `stratagem report --json` prints them."""
        return {"page": str(self.path), **self.summary, **({"damage": [*self.damage]} if self.damage else {})}

    def remarks(self) -> list[str]:
        """Return the sentences about damaged files of the record."""
        return [*self.damage]

    def tables(self) -> list[ResultTable]:
        size = f"{self.path.stat().st_size / 1e3:.0f} kB"
        return [text_table("", ("",), [(f"{self.path}: {size}",)])]


@one_sentence
def report(of: Reported, out: str | Path | None = None, *, progress: bool = True) -> ReportPage:
    """Write a report: one HTML file with figures, curves, episodes and recipe, which needs no network.

    Args:
        of: Run, record, evaluation or tournament, as an object, or by its folder or file.
        out: File of the page; by default report.html in the folder.
        progress: True to show progress: a bar in a terminal or in a notebook, and lines elsewhere.
    """
    target = None if out is None else as_path(out, "file")
    if isinstance(of, Evaluation | Tournament):
        return _of_figures(of, target)
    if not isinstance(of, str | Path | Run | Record):
        raise WrongKind("report", "made of a run, a record, an evaluation or a tournament, or of its path", of)
    from stratagem.show.reports.figures_page import figures_summary, is_figures, write_figures
    from stratagem.show.reports.report import summary, write_report
    from stratagem.show.reports.run_data import RunData

    place = of.path if isinstance(of, Run) else of.folder if isinstance(of, Record) else Path(of)
    if is_figures(place):
        return ReportPage(write_figures(place, target), figures_summary(place))
    if (page := place / SWEEP_PAGE).is_file():
        raise BadParameter(f"{place} is the folder of a sweep, whose page is {page}: name one of its runs.")
    run = RunFolder.open(place, ", and reports are also made of records, evaluations and tournaments")
    with show_progress(2, shown=progress) as step:
        step("writes the page")
        page = write_report(run, target)
        step("sums up its figures")
        return ReportPage(page, summary(run), tuple(RunData(run).damaged_shards))


def _of_figures(of: Evaluation | Tournament, target: Path | None) -> ReportPage:
    """Write the page of figures that are in no file."""
    if target is None:
        raise BadParameter('Figures that are in no folder need a file for their page: `out="page.html"`.')
    from stratagem.show.reports.figures_page import page_of, summary_of

    data = json.loads(json.dumps(finite(of.to_json())))
    write_file(target, page_of(data, target.stem, "This evaluation"))
    return ReportPage(target, summary_of(data))
