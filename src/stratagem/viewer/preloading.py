"""First page with links to all modules that it needs, so that a browser asks for them at once and not one by one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

MAIN = "main.js"
_IMPORT = re.compile(r"^import [^;]*?from '\./([\w-]+\.js)';", re.MULTILINE)


def first_page(files: Mapping[str, Path]) -> str:
    """Return the page with a link to each module that the first one imports, itself or by others."""
    return _page(tuple(sorted(files.items())))


@cache
def _page(known: tuple[tuple[str, Path], ...]) -> str:
    files = dict(known)
    page = files["index.html"].read_text(encoding="utf-8")
    links = "".join(f'<link rel="modulepreload" href="/static/{name}">\n' for name in modules(files))
    return page.replace('<script type="module"', f'{links}<script type="module"', 1)


def modules(files: Mapping[str, Path]) -> list[str]:
    """Return the modules that the first one imports, itself or by others; those asked for later are not among them."""
    found, open_names = list[str](), [MAIN]
    while open_names:
        text = files[open_names.pop(0)].read_text(encoding="utf-8")
        new = [name for name in _IMPORT.findall(text) if name not in found and name != MAIN]
        found += new
        open_names += new
    return found
