"""The manual page of the command line, `man stratagem`, in the form of man(7), and the help of each command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from stratagem import __version__
from stratagem.cli.loading import WIDTH
from stratagem.cli.main import PROGRAM, app

NOTE = '.\\" Written by `make docs` from the code; edit the code, not this page.'


def help_texts() -> str:
    """Help of every command as JSON, which the command line prints without an import of its functions."""
    command: Any = get_command(app)
    above = command.context_class(command, info_name=PROGRAM)
    texts = {
        name: one.loaded.get_help(one.loaded.context_class(one.loaded, above, name, terminal_width=WIDTH))
        for name, one in command.commands.items()
    }
    return json.dumps(texts, indent=1) + "\n"


def manual() -> str:
    """The page."""
    command: Any = get_command(app)
    return "\n".join(
        (
            NOTE,
            f'.TH STRATAGEM 1 "" "stratagem {__version__}" "User Commands"',
            *_section("NAME", f"stratagem \\- {_escaped(_sentence(command.help).rstrip('.'))}"),
            *_section("SYNOPSIS", ".B stratagem", "COMMAND [OPTION]... [ARGUMENT]..."),
            *_section(
                "DESCRIPTION",
                "A game or a player is given by its name; a name with brackets needs quotation marks in most shells.",
                "A mistake in a command is answered with one sentence and exit status 2.",
                "After",
                ".B stratagem \\-\\-install\\-completion",
                "the shell completes commands, options and names.",
            ),
            ".SH COMMANDS",
            *(line for name, one in command.commands.items() for line in _command(name, one.loaded)),
            *_section(
                "EXIT STATUS",
                "0 for success, 1 for a check that failed, 2 for a mistake in the command.",
            ),
            "",
        )
    )


def _section(title: str, *lines: str) -> Iterator[str]:
    yield f".SH {title}"
    yield from lines


def _command(name: str, command: Any) -> Iterator[str]:
    """One command: what it does, then its arguments and options."""
    yield f".SS stratagem {_escaped(name)}"
    yield _escaped(" ".join((command.help or "").split()))
    yield from (".PP", ".EX", _escaped(f"{PROGRAM} {name} {command.example}"), ".EE")
    for parameter in command.params:
        if getattr(parameter, "hidden", False) or not getattr(parameter, "help", None):
            continue
        yield ".TP"
        option = parameter.param_type_name == "option"
        names = [*parameter.opts, *parameter.secondary_opts] if option else [str(parameter.name).upper()]
        yield f".B {_escaped(', '.join(names))}"
        yield _escaped(" ".join(parameter.help.split()))


def _sentence(text: str | None) -> str:
    first = " ".join((text or "").split())
    return first[:1].lower() + first[1:]


def _escaped(text: str) -> str:
    """Escape what the formatter would read as its own: backslashes, hyphens, and marks at the start of a line."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain[:1] in (".", "'") else plain
