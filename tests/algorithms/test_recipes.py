"""The recipes that come along are read, and can be trained, by whatever algorithm they name."""

from pathlib import Path

from stratagem.algorithms.catalogue import bound, read_any
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.training.runs.folder import RunFolder

RECIPES = Path(__file__).parents[2] / "recipes"


def test_an_exploiter_of_anybody(tmp_path):
    """As the page on leagues tells it."""
    changes = {"members.target": '"AlwaysBet"', "opponents": '["AlwaysBet"]'}
    recipe = read_any(RECIPES / "league/exploit.toml", changes)
    assert isinstance(recipe, LeagueRecipe)
    bound(recipe, RunFolder(tmp_path / "run"))
    assert (recipe.members, recipe.opponents) == ({"target": "AlwaysBet"}, ("AlwaysBet",))
