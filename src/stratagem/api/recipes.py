"""Recipes: `list_recipes` lists those of the package."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from stratagem.api.mistakes import one_sentence
from stratagem.api.result import Result
from stratagem.base.errors import BadParameter, WrongKind
from stratagem.games.base import Json
from stratagem.show.table import ResultTable, text_table
from stratagem.training.shipped import ShippedRecipe, shipped_recipes

__all__ = ["Recipes", "list_recipes"]


@dataclass(frozen=True, repr=False)
class Recipes(Result):
    """Shipped recipes by name. It has no figures, so there is no picture."""

    recipes: tuple[ShippedRecipe, ...]
    """Name, file and description of each."""

    def rows(self) -> list[Json]:
        """Return one row for each recipe: its name, group, description and file, and the recipes to compose it with."""
        return [
            {
                "name": one.name,
                "group": one.group,
                "summary": one.summary,
                "path": str(one.path),
                "composed_with": list(one.others),
            }
            for one in self.recipes
        ]

    def tables(self) -> list[ResultTable]:
        return [
            text_table(group, ("", "", ""), [_cells(one) for one in members])
            for group, members in groupby(self.recipes, key=lambda one: one.group)
        ]

    def remarks(self) -> list[str]:
        """Return how recipes are used."""
        return ["stratagem train NAME... composes recipes; a later one overrides an earlier one."]


def _cells(recipe: ShippedRecipe) -> tuple[str, str, str]:
    part = f"part, with {' '.join(recipe.others)}" if recipe.others else ""
    return recipe.name, recipe.summary, part


@one_sentence
def list_recipes(word: str = "") -> Recipes:
    """List the shipped recipes with their descriptions.

    Args:
        word: Word of the name or of the description.
    """
    if not isinstance(word, str):
        raise WrongKind("word of a recipe", "a text", word)
    if not (listed := tuple(shipped_recipes(word))):
        raise BadParameter(
            f"No recipe has {word!r} in its name or its description: `stratagem recipes` lists them all."
        )
    return Recipes(listed)
