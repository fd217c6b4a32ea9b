"""The recipes that come along are read, and can be trained, by whatever algorithm they name."""

from pathlib import Path

import pytest

from stratagem.algorithms.catalogue import bound, read_any
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.runs.folder import RunFolder
from stratagem.sweeps.plan import planned, read_plan

RECIPES = Path(__file__).parents[2] / "recipes"
PATHS = sorted([*RECIPES.glob("league/*.toml"), *RECIPES.glob("diplomacy/*.toml")])


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_it_can_be_trained(path, tmp_path):
    bound(read_any(path), RunFolder(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_an_exploiter_of_anybody(tmp_path):
    """As the page on leagues tells it."""
    changes = {"members.target": '"AlwaysBet"', "opponents": '["AlwaysBet"]'}
    recipe = read_any(RECIPES / "league/exploit.toml", changes)
    assert isinstance(recipe, LeagueRecipe)
    bound(recipe, RunFolder(tmp_path / "run"))
    assert (recipe.members, recipe.opponents) == ({"target": "AlwaysBet"}, ("AlwaysBet",))


@pytest.mark.parametrize("path", sorted(RECIPES.glob("sweeps/*.toml")), ids=lambda path: path.stem)
def test_a_sweep_names_recipes_that_can_be_trained(path, tmp_path):
    runs = list(planned(read_plan(path), path.parent))
    for run in runs:
        bound(read_any(run.recipes, run.changes), RunFolder(tmp_path / run.name))
    assert len({run.name for run in runs}) == len(runs)
