"""A league of a few steps, which tests change, break off and resume."""

import json

import pytest

from stratagem.algorithms.league.algorithm import LeagueAlgorithm
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

DATA = {
    "games": ["kuhn(hands=1)"],
    "opponents": ["random"],
    "temperature": 1.0,
    "evaluate_every": 3,
    "validation_episodes": 1,
    "test_episodes": 1,
    "members": {"bettor": "AlwaysBet"},
    "adapter": {"rank": 4},
    "learners": {
        "main": {"role": "main"},
        "exploiter": {"role": "main_exploiter"},
        "searcher": {"role": "league_exploiter"},
    },
    "league": {
        "iterations": 5,
        "groups_per_batch": 2,
        "group_size": 4,
        "snapshot_every": 2,
        "max_loaded_adapters": 2,
        "results_decay": 0.9,
        "crossplay_games": 1,
        "crossplay_snapshots": 2,
        "optimizer": {"learning_rate": 1e-3},
    },
}


class Broken(Exception):
    """Somebody pulled the plug."""


def begun(path, **changes):
    recipe = LeagueRecipe.read({**DATA, **changes})
    return recipe, RunFolder.create(path, recipe, recipe.seed, "a test")


def broken_off(path, *, at, **changes):
    """A run that somebody stopped when so many steps were taken."""
    recipe, run = begun(path, **changes)

    def plug(step, steps, seen):
        if step == at:
            raise Broken

    with pytest.raises(Broken):
        LeagueAlgorithm(recipe, run).train(plug)
    return recipe, run


def trained(path, **changes):
    recipe, run = begun(path, **changes)
    LeagueAlgorithm(recipe, run).train()
    return run


def population(run):
    return json.loads((run.path / "league/population.json").read_text())


def figures(run):
    return {name: (curve.steps, curve.values) for name, curve in read_metrics(run).items()}
