"""Map from the terms of the glossary to the modules that define them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from chapters.markdown import code, page, table

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"
SOURCE = ROOT / "src" / "stratagem"
NO_MODULE = "no module: "
"""Text before the reason in the last cell of a term that is no code."""
_CELLS = re.compile(r"^\| (.+) \|$", re.MULTILINE)
_MODULE = re.compile(r"`([a-z0-9_.]+)`")
_HEADS = ("term", "word", "---")


class Home(NamedTuple):
    """Place of a term: a module of `stratagem`, or the reason why there is none."""

    term: str
    module: str = ""
    reason: str = ""

    @property
    def file(self) -> Path:
        """File of the module."""
        return SOURCE.joinpath(*self.module.split(".")).with_suffix(".py")


def homes_in(glossary: str) -> Iterator[Home]:
    """Yield the home of each term, from the last cells of the tables of a glossary; refuse a term without one."""
    for row in _CELLS.findall(glossary):
        term, *_, last = (cell.strip() for cell in row.split("|"))
        if term in _HEADS:
            continue
        if module := _MODULE.fullmatch(last):
            yield Home(term, module=module[1])
        elif last.startswith(NO_MODULE) and last != NO_MODULE.strip():
            yield Home(term, reason=last.removeprefix(NO_MODULE))
        else:
            raise ValueError(f"The glossary gives {term!r} no home: end its row with `MODULE` or `{NO_MODULE}REASON`.")


def homes() -> str:
    """The page."""
    found = sorted(homes_in(GLOSSARY.read_text("utf-8")), key=lambda home: home.term.lower())
    return page(
        "Map",
        "Every term of the [glossary](glossary.md) with the one module of `src/stratagem` where it is defined, and the "
        "first sentence of that module. [Architecture](../explanation/architecture.md) has the packages, and what each "
        "may import. A new term gets its module in the glossary, beside its meaning.",
        table(("term", "module", "content"), (_row(home) for home in found if home.module)),
        "## Terms without a module",
        table(("term", "reason"), ((home.term, home.reason) for home in found if not home.module)),
    )


def _row(home: Home) -> tuple[str, str, str]:
    return home.term, code(home.module), _first_line(home.file)


def _first_line(file: Path) -> str:
    return (ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "").partition("\n")[0]
