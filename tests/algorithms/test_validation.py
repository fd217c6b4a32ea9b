"""Validation scores of policies, also of one without legal actions."""

import math

import pytest

from stratagem.algorithms.sepo.recipe import SEPORecipe
from stratagem.base.errors import CannotCompute
from stratagem.games.catalogue import make_game
from stratagem.players.base import Move, Traits
from stratagem.players.catalogue import make_player
from stratagem.training.evaluation import Validation


class Mute:
    """Says nothing legal, ever."""

    name = "mute"
    traits = Traits(fallible=True)

    def turn(self, ask):
        return Move(None, "illegal")

    def policy(self, view):
        return {}


def score(recipe, agent):
    return Validation(recipe, [make_game(recipe.games[0])]).metrics(agent)["checkpoint_metric"]


@pytest.mark.parametrize("games", [("ipd",), ("ipd(rounds=3)",)])
def test_a_policy_that_is_silent_is_worth_less_than_any(games):
    """No round of it tells of collusion, so its safety is not known; the run goes on."""
    recipe = SEPORecipe.read({"games": games, "checkpoint_metric": "safety", "validation_episodes": 1})
    assert score(recipe, Mute()) == -math.inf
    assert math.isfinite(score(recipe, make_player("random", make_game(games[0]))))


def test_a_figure_that_a_game_does_not_have_is_missed_by_its_name():
    recipe = SEPORecipe.read({"games": ["kuhn(hands=1)"], "validation_episodes": 1}).model_copy(
        update={"checkpoint_metric": "length"}
    )
    with pytest.raises(CannotCompute, match="`checkpoint_metric` cannot be length in kuhn"):
        score(recipe, Mute())
