"""`stratagem recipes`: the list of shipped recipes."""

from __future__ import annotations

from typing import Annotated

import typer

from stratagem.api.recipes import recipes as list_recipes
from stratagem.cli import options
from stratagem.cli.output import print_result


def recipes(
    word: Annotated[str, typer.Argument(help="Word of the name or of the description.")] = "",
    json: options.Json = False,
) -> None:
    """List the shipped recipes with their descriptions."""
    found = list_recipes(word)
    print_result(found, json=json)
