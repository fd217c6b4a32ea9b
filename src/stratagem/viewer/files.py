"""Files of the pages by name."""

from __future__ import annotations

from pathlib import Path

from stratagem.reports.page import MODULES, REPORTS

STATIC = Path(__file__).with_name("static")
"""Folder of the files of the pages."""
PICTURES = tuple(map(REPORTS.joinpath, (*MODULES, "plot.css")))
"""Files of the pictures, which reports have, too."""


def files_of_pages() -> dict[str, Path]:
    """Return all files that a page may load, by name."""
    return {path.name: path for path in (*STATIC.iterdir(), *PICTURES)}
