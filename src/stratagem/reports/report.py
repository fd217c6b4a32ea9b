"""Report of a run: read the run, make the sections, write one page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from stratagem.files import write_file
from stratagem.reports.catalogue import sections
from stratagem.reports.headline import headlines
from stratagem.reports.headline_table import headline_table
from stratagem.reports.page import header, page, summary
from stratagem.reports.run_data import RunData
from stratagem.reports.section import Section
from stratagem.reports.tiles import tiles
from stratagem.reports.verdict import verdict
from stratagem.runs.folder import RunFolder, Status
from stratagem.show.html import Html

FILE = "report.html"


class Report(NamedTuple):
    """Report of a run as it is now: what a page is made of."""

    name: str
    status: Status
    data: RunData
    sections: Sequence[Section]

    @property
    def summary(self) -> Html:
        """Verdict, figures and facts at the head."""
        return summary(self._warning, verdict(self.data), tiles(self.data), self._figures)

    @property
    def html(self) -> str:
        """The page."""
        name, status = self.name, self.status
        top = header(name, status.state, self._warning, verdict(self.data), tiles(self.data), self._figures)
        return page(f"{name}: {status.state}", top, self.sections)

    @property
    def _warning(self) -> str:
        """Reason why the run failed, and damage to its record, which no figure would show."""
        return " ".join(filter(None, [self.status.sentence, *self.data.damaged_shards]))

    @property
    def _figures(self) -> Html:
        return headline_table(headlines(self.data))


def report_of(run: RunFolder) -> Report:
    """Read a run and make the sections of its report."""
    data = RunData(run)
    return Report(run.name, data.status, data, sections(data))


def report_html(run: RunFolder) -> str:
    """Write the page of a run as it is now."""
    return report_of(run).html


def write_report(run: RunFolder, path: Path | None = None) -> Path:
    """Write the page, by default into the run's folder, and return its path."""
    target = path or run.path / FILE
    write_file(target, report_html(run))
    return target
