"""Checks of a SEPO recipe against its games, before any training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from stratagem.algorithms.sepo.best_responder import best_responder
from stratagem.algorithms.sepo.recipe import SEPORecipe
from stratagem.errors import BadParameter, CannotCompute
from stratagem.evaluation.exact import exact
from stratagem.evaluation.metrics.safety import WEIGHTS
from stratagem.games.base import Game, View
from stratagem.players.base import Ask, Mix, Move, Traits
from stratagem.players.model_player import PRICE
from stratagem.players.pools import pools
from stratagem.players.uniform import uniform
from stratagem.prompting.catalogue import make_style

_LEGAL = 0.9
"""Assumed rate of legal replies of a mode that allows illegal ones."""


@dataclass(frozen=True)
class StandIn:
    """Uniform player with the model's traits and cost of a query, by which the budget of exact figures is checked."""

    traits: Traits
    name: str = "the policy"

    def turn(self, ask: Ask) -> Move:
        """Play a uniformly random legal action."""
        return Move(ask.view.choices.sample(ask.key))

    def policy(self, view: View[Any]) -> Mix:
        """Return equal probabilities of the legal actions; of a fallible player they add up to less than 1."""
        share = _LEGAL if self.traits.fallible else 1.0
        return {action: share * odds for action, odds in uniform(view.choices).items()}


def check_games(recipe: SEPORecipe, games: Sequence[Game[Any]]) -> None:
    """Refuse games without pools, two games of one name, and metrics that a game does not have."""
    counted = Counter(game.spec.name for game in games)
    if twice := [name for name, count in counted.items() if count > 1]:
        raise BadParameter(f"Two of the games are {twice[0]}, and their figures would have one name: leave one out.")
    memory = make_style(recipe.style).memory
    policy = StandIn(Traits(stochastic=True, memory=memory, fallible=recipe.mode == "single", price=PRICE))
    budget = recipe.exact_budget
    for game in games:
        pools(game)  # raises for a game without pools
        if recipe.sepo.asks_best_responses(game.spec.family):
            _check("sepo.penalty_source", "best_response", game, lambda game: best_responder(game, policy, budget))
        if recipe.checkpoint_metric == "exploitability":
            _check("checkpoint_metric", "exploitability", game, lambda game: exact(game, policy, budget))
        elif game.spec.name not in WEIGHTS:
            raise CannotCompute(f"`checkpoint_metric` cannot be safety in {game.spec.name}, which has no such figure.")


def _check(setting: str, value: str, game: Game[Any], find: Callable[[Game[Any]], object]) -> None:
    try:
        find(game)
    except CannotCompute as error:
        raise CannotCompute(f"`{setting}` cannot be {value} in {game.spec.name}: {error}") from error
