"""Markdown from data."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence

from stratagem.base.field_notes import notes as notes

NOTE = "<!-- Written by `make docs` from the code; edit the code, not this page. -->"


def page(title: str, *sections: str) -> str:
    """A whole page under its title."""
    return "\n\n".join((f"# {title}", NOTE, *(section.strip("\n") for section in sections))) + "\n"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; what a cell cannot hold is escaped."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(_cell(value) for value in line) + " |" for line in lines)


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def code(value: object) -> str:
    """Set as code; nothing stays nothing."""
    return f"`{value}`" if str(value) else ""


def block(text: str, language: str = "text") -> str:
    """Set apart, as it is."""
    return f"```{language}\n{text.rstrip()}\n```"


def yes(flag: bool) -> str:
    """A truth as a word."""
    return "yes" if flag else "no"


def rule(thing: object) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())


def definition(thing: object) -> str:
    """The whole docstring, on one line."""
    return " ".join((inspect.getdoc(thing) or "").split())
