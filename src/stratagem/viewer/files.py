"""Files of the pages by name."""

from __future__ import annotations

from pathlib import Path

from stratagem.reports.page import MODULES, REPORTS

STATIC = Path(__file__).with_name("static")
"""Folder of the files of the pages."""


def files_of_pages() -> dict[str, Path]:
    """Return all files that a page may load, by name; those of the pictures are the reports'."""
    pictures = [REPORTS / name for name in (*MODULES, "plot.css", "section.css")]
    return {path.name: path for path in (*STATIC.iterdir(), *pictures)}
