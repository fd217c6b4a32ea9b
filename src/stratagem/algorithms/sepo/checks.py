"""Checks of a SEPO recipe against its games, before any training."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stratagem.algorithms.sepo.recipe import SEPORecipe
from stratagem.algorithms.sepo.terms import missing_terms
from stratagem.errors import BadParameter, CannotCompute
from stratagem.evaluation.exploitability.best_responder import best_responder
from stratagem.evaluation.exploitability.exact import exact
from stratagem.evaluation.metrics.safety import POOL_OF
from stratagem.evaluation.tree_policy import Floats
from stratagem.games.base import Game, View
from stratagem.games.safety.catalogue import weights_of
from stratagem.games.tree import GameTree
from stratagem.learning.monitor import TrainingWarning
from stratagem.players.base import Ask, Mix, Move, Traits
from stratagem.players.members import PlayerBase
from stratagem.players.model_player import PRICE
from stratagem.players.modes import MODES
from stratagem.players.pools import pools
from stratagem.players.uniform import uniform
from stratagem.prompting.catalogue import make_style
from stratagem.training.by_game import check_games_of
from stratagem.training.message_branches import check_messages

KEYS = {
    "exploit": "exploitability_weight",
    "collusion": "collusion_weight",
    "externality": "externality_weight",
    "deception": "deception_weight",
}
"""Settings of the penalties' weights."""
_LEGAL = 0.9
"""Assumed rate of legal replies of a mode that allows illegal ones."""


@dataclass(frozen=True)
class StandIn(PlayerBase):
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


class CountedStandIn(StandIn):
    """Stand-in of a model whose replies are counted, which is answered on the tree of a game."""

    def on_tree(self, tree: GameTree) -> Floats:
        """Return equal probabilities of the actions, by slot."""
        sizes = np.diff(tree.slots)
        return np.repeat(1.0 / sizes, sizes)


def check_games(recipe: SEPORecipe, games: Sequence[Game[Any]]) -> None:
    """Refuse pools and penalties that a game cannot have, and metrics without a figure."""
    memory = make_style(recipe.style).memory
    kind = StandIn if MODES[recipe.mode].exact else CountedStandIn
    policy = kind(Traits(stochastic=True, memory=memory, fallible=recipe.mode == "single", price=PRICE))
    budget = recipe.exact_budget
    check_games_of("pools", recipe.pools, games)
    for game in games:
        check_pools(recipe, game)
        check_messages(recipe.sepo.advantage, game)
    check_terms(recipe, games)
    for game in games:
        check_illegal(recipe, game)
        if recipe.sepo.asks_best_responses(game):
            _check("sepo.penalty_source", "best_response", game, lambda game: best_responder(game, policy, budget))
        if recipe.checkpoint_metric == "exploitability":
            _check("checkpoint_metric", "exploitability", game, lambda game: exact(game, policy, budget))
        else:
            check_safety(recipe, game)


def check_illegal(recipe: SEPORecipe, game: Game[Any]) -> None:
    """Refuse to count replies that may be illegal in a game that has no action for them."""
    needed = recipe.checkpoint_metric == "exploitability" or recipe.sepo.asks_best_responses(game)
    if needed and recipe.mode == "free" and game.spec.on_illegal != "default":
        raise CannotCompute(
            f"{game.spec.name} has no action for an illegal reply, so in the mode free nobody knows what is exploited: "
            "take `mode` recover or constrained, `sepo.penalty_source` pool and `checkpoint_metric` safety."
        )


def check_pools(recipe: SEPORecipe, game: Game[Any]) -> None:
    """Refuse a game of one seat, an empty train pool, and players of pools that do not play the game."""
    if game.spec.seats < 2:
        raise BadParameter(f"SEPO trains against opponents, and {game.spec.name} has one seat.")
    named = pools(game, recipe.pools_of(game))
    if not named["train"].players:
        raise BadParameter(f"The pool train of {game.spec.name} is empty: SEPO plays against it, so name a player.")
    for pool in named.values():
        pool.make(game)


def check_terms(recipe: SEPORecipe, games: Sequence[Game[Any]]) -> None:
    """Refuse a penalty with a weight that no game can have, and warn of those that some game cannot have."""
    sepo = recipe.sepo
    missing = [missing_terms(game, recipe.pools_of(game), sepo.penalty_source) for game in games]
    for term, weight in sepo.given_weights.items():
        if weight > 0.0 and all(term in of_game for of_game in missing):
            raise BadParameter(f"`sepo.{KEYS[term]}` acts in no game: in {games[0].spec.name} {missing[0][term]}.")
    for game, of_game in zip(games, missing, strict=True):
        wanted = {**weights_of(game)._asdict(), "deception": 0.0, **sepo.given_weights}
        for term, why in of_game.items():
            if wanted[term] > 0.0:
                said = f"The penalty of {term} is inactive in {game.spec.name}: {why}."
                warnings.warn(said, TrainingWarning, stacklevel=2)


def check_safety(recipe: SEPORecipe, game: Game[Any]) -> None:
    """Refuse the metric `safety` where the recipe empties a pool of the game that it needs."""
    own = recipe.pools_of(game)
    for term, pool in POOL_OF.items():
        if getattr(weights_of(game), term) and pool in own and not own[pool] and pools(game)[pool].players:
            raise CannotCompute(
                f"`checkpoint_metric` cannot be safety in {game.spec.name}, since its pool `{pool}` is empty in "
                "`pools`: take exploitability, or leave the pool out."
            )


def _check(setting: str, value: str, game: Game[Any], find: Callable[[Game[Any]], object]) -> None:
    try:
        find(game)
    except CannotCompute as error:
        raise CannotCompute(f"`{setting}` cannot be {value} in {game.spec.name}: {error}") from error
