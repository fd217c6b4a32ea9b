"""`stratagem recipes`: the list of shipped recipes."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated

import typer
from rich.text import Text

from stratagem.cli import options
from stratagem.cli.console import out
from stratagem.cli.output import print_json, table
from stratagem.errors import BadParameter
from stratagem.training.shipped import ShippedRecipe, shipped_recipes


def recipes(
    word: Annotated[str, typer.Argument(help="Word of the name or of the description.")] = "",
    json: options.Json = False,
) -> None:
    """List the shipped recipes with their descriptions."""
    if not (listed := list(shipped_recipes(word))):
        raise BadParameter(
            f"No recipe has {word!r} in its name or its description: `stratagem recipes` lists them all."
        )
    print_json([_card(recipe) for recipe in listed]) if json else _list(listed)


def _card(recipe: ShippedRecipe) -> dict[str, str]:
    return {"name": recipe.name, "group": recipe.group, "summary": recipe.summary, "path": str(recipe.path)}


def _list(listed: list[ShippedRecipe]) -> None:
    for group, members in groupby(listed, key=lambda recipe: recipe.group):
        grid = table(group, "", "", numbers=False)
        grid.show_header = False
        for recipe in members:
            grid.add_row(Text(recipe.name), Text(recipe.summary))
        out.print(grid)
        out.print()
    out.print(
        "stratagem train NAME... composes recipes; a later one overrides an earlier one.", highlight=False, markup=False
    )
