"""The command line, as it describes itself."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from typer.main import get_command
from typer.testing import CliRunner

from chapters.markdown import block, page
from stratagem.cli.commands import PLURAL
from stratagem.cli.main import app

WIDTH = {"COLUMNS": "100", "TERMINAL_WIDTH": "100"}
DOCS = Path(__file__).resolve().parents[1]
GUIDES, BACKGROUND = ("tutorials", "how-to"), ("explanation", "results")
"""Folders of pages that show commands: those of the second stand for a command that no guide shows."""
MOST = 3
"""Largest number of pages for a command."""


def command_line() -> str:
    """The page."""
    names = list(get_command(app).commands)  # type: ignore[attr-defined]
    several = ", ".join(f"`{option}`" for option in PLURAL)
    return page(
        "The command line",
        f"Output of `stratagem COMMAND --help`. {several} take several values after one option, as in "
        "`--players TitForTat Pavlov`. Other options are repeated. A name with brackets needs quotation marks in most "
        "shells: `stratagem play 'ipd(rounds=20)' --players TitForTat`. A mistake in a command is answered with one "
        "sentence and exit status 2. `verify-game` ends with status 1 when a check fails. After `stratagem "
        "--install-completion` bash, zsh, fish and PowerShell complete commands, options, and the names of games, "
        "players, recipes, styles, metrics, models and engines.",
        block(_help()),
        *(f"## stratagem {name}\n\n{block(_help(name))}{_shown_in(name)}" for name in names),
    )


def _shown_in(command: str) -> str:
    """Return links to the pages that show a command most often."""
    for folders in (GUIDES, BACKGROUND):
        counts = [(_uses(text, command), title, place) for place, (title, text) in _pages(folders).items()]
        if most := sorted((one for one in counts if one[0]), key=lambda one: -one[0])[:MOST]:
            return f"\n\nShown in {', '.join(f'[{title}](../{place})' for _, title, place in most)}."
    return ""


def _uses(text: str, command: str) -> int:
    return len(re.findall(rf"\bstratagem {command}(?![\w-])", text))


@cache
def _pages(folders: tuple[str, ...]) -> dict[str, tuple[str, str]]:
    """Return title and text of each page of folders, by its place in `docs`."""
    files = [file for folder in folders for file in sorted((DOCS / folder).glob("*.md"))]
    texts = {file.relative_to(DOCS).as_posix(): file.read_text("utf-8") for file in files}
    return {place: (text.partition("\n")[0].removeprefix("# "), text) for place, text in texts.items()}


def _help(*command: str) -> str:
    result = CliRunner().invoke(app, [*command, "--help"], prog_name="stratagem", env=WIDTH)
    return "\n".join(line.rstrip() for line in result.output.splitlines())
