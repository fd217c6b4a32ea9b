"""The command line, as it describes itself."""

from __future__ import annotations

from typer.main import get_command
from typer.testing import CliRunner

from chapters.markdown import block, page
from stratagem.cli.commands import PLURAL
from stratagem.cli.main import app

WIDTH = {"COLUMNS": "100", "TERMINAL_WIDTH": "100"}


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
        *(f"## stratagem {name}\n\n{block(_help(name))}" for name in names),
    )


def _help(*command: str) -> str:
    result = CliRunner().invoke(app, [*command, "--help"], prog_name="stratagem", env=WIDTH)
    return "\n".join(line.rstrip() for line in result.output.splitlines())
