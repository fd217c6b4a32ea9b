"""Report of a run: read the run, make the sections, write one page."""

from __future__ import annotations

from pathlib import Path

from stratagem.files import write_file
from stratagem.reports.catalogue import sections
from stratagem.reports.headline import headlines
from stratagem.reports.headline_table import headline_table
from stratagem.reports.page import header, page
from stratagem.reports.run_data import RunData
from stratagem.reports.tiles import tiles
from stratagem.reports.verdict import verdict
from stratagem.runs.folder import RunFolder

FILE = "report.html"


def report_html(run: RunFolder) -> str:
    """Write the page of a run as it is now."""
    data = RunData(run)
    status = data.status
    figures = headline_table(headlines(data))
    top = header(run.name, status.state, status.sentence, verdict(data), tiles(data), figures)
    return page(f"{run.name}: {status.state}", top, sections(data))


def write_report(run: RunFolder, path: Path | None = None) -> Path:
    """Write the page, by default into the run's folder, and return its path."""
    target = path or run.path / FILE
    write_file(target, report_html(run))
    return target
