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
    word: Annotated[str, typer.Argument(help="A word of the name or of the line about it.")] = "",
    json: options.Json = False,
) -> None:
    """List the recipes that come along, with a line about each."""
    if not (found := list(shipped_recipes(word))):
        raise BadParameter(f"No recipe has {word!r} in its name or its line: `stratagem recipes` lists them all.")
    print_json([_card(recipe) for recipe in found]) if json else _list(found)


def _card(recipe: ShippedRecipe) -> dict[str, str]:
    return {"name": recipe.name, "group": recipe.group, "summary": recipe.summary, "path": str(recipe.path)}


def _list(found: list[ShippedRecipe]) -> None:
    for group, members in groupby(found, key=lambda recipe: recipe.group):
        made = table(group, "", "", numbers=False)
        made.show_header = False
        for recipe in members:
            made.add_row(Text(recipe.name), Text(recipe.summary))
        out.print(made)
        out.print()
    out.print("stratagem train NAME... composes them, a later one over an earlier.", highlight=False, markup=False)
