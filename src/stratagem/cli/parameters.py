"""Parameters of Python in a sentence, as the options that set them: `resume=True` becomes --resume."""

from __future__ import annotations

import ast
import re
import shlex
from typing import Annotated

import typer

from stratagem.base.consent.flags import with_flags

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
"""Option of every command whose result is data."""
_PARAMETER = re.compile(r"`(?:sg\.)?(?P<name>[a-z_]+)(?:=|\((?=['\"]))(?P<value>[^`]*?)\)?`")
"""`name=`, `name=value` or `sg.name('value')`, and not a game with options, as in `ipd(rounds=3)`."""
_OTHERWISE = {"changes": "--set", "metrics": "--metric", "everything": "--all"}
"""Options that have another name than their parameter."""


def as_options(sentence: str) -> str:
    """Return a sentence with options of the command line in place of the parameters of a function."""
    return _PARAMETER.sub(_option, with_flags(sentence)).replace("The same call", "The same command")


def _option(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    option = _OTHERWISE.get(name, f"--{name.replace('_', '-')}")
    return " ".join((option, *_words(value)))


def _words(value: str) -> list[str]:
    """Return a value as it stands after its option; a switch has none."""
    try:
        given = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        given = value
    return [] if given is True or given == "" else [shlex.quote(str(given))]
