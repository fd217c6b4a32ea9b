"""Files of the pages by name, and the first page, which asks a browser for all modules at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from stratagem.show.reports.page import MODULES, REPORTS

STATIC = Path(__file__).with_name("static")
"""Folder of the files of the pages."""


def files_of_pages() -> dict[str, Path]:
    """Return all files that a page may load, by name; those of the pictures are the reports'."""
    pictures = [REPORTS / name for name in (*MODULES, "plot.css", "section.css")]
    return {path.name: path for path in (*STATIC.iterdir(), *pictures)}


_SCRIPT = re.compile(r'<script type="module" src="(/?static/)([\w-]+\.js)">')
_IMPORT = re.compile(r"^import [^;]*?from '\./([\w-]+\.js)';", re.MULTILINE)


def first_page(files: Mapping[str, Path], page: str) -> str:
    """Return a page with a link to each module that its script imports, itself or by others."""
    return _page(tuple(sorted(files.items())), page)


@cache
def _page(known: tuple[tuple[str, Path], ...], name: str) -> str:
    files = dict(known)
    page = files[name].read_text(encoding="utf-8")
    script = _SCRIPT.search(page)
    assert script is not None
    folder, main = script.groups()
    links = "".join(f'<link rel="modulepreload" href="{folder}{name}">\n' for name in modules(files, main))
    return page.replace(script[0], links + script[0], 1)


def modules(files: Mapping[str, Path], main: str) -> list[str]:
    """Return the modules that one imports, itself or by others; those asked for later are not among them."""
    found, open_names = list[str](), [main]
    while open_names:
        text = files[open_names.pop(0)].read_text(encoding="utf-8")
        new = [name for name in _IMPORT.findall(text) if name not in found and name != main]
        found += new
        open_names += new
    return found
