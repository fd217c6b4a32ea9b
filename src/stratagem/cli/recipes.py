"""`stratagem recipes`: the list of shipped recipes."""

from __future__ import annotations

from typing import Annotated

import typer

from stratagem.api.recipes import recipes as list_recipes
from stratagem.cli import options
from stratagem.cli.console import out
from stratagem.cli.output import print_grid, print_json


def recipes(
    word: Annotated[str, typer.Argument(help="Word of the name or of the description.")] = "",
    json: options.Json = False,
) -> None:
    """List the shipped recipes with their descriptions."""
    found = list_recipes(word)
    if json:
        print_json(found.to_json())
        return
    for grid in found.grids():
        print_grid(grid)
        out.print()
    out.print(
        "stratagem train NAME... composes recipes; a later one overrides an earlier one.", highlight=False, markup=False
    )
