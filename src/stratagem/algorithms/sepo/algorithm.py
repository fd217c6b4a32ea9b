"""SEPO (Safe Equilibrium Policy Optimization) as an algorithm that a recipe names."""

from __future__ import annotations

from typing import Any

from stratagem.algorithms.sepo.checks import check_games
from stratagem.algorithms.sepo.collector import SEPOCollector
from stratagem.algorithms.sepo.recipe import SEPORecipe
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.players.model_player import ModelPlayer
from stratagem.players.pools import pools
from stratagem.training.algorithm import OnlineAlgorithm, check_overlap

PLAYED = ("train", "exploit", "collusive")
"""Pools that are played against in training."""


class SEPOAlgorithm(OnlineAlgorithm[SEPORecipe]):
    """SEPO: rollouts against the train pool, and probes by adversaries."""

    recipe_type = SEPORecipe

    def check(self) -> None:
        check_games(self.recipe, self.games)
        super().check()
        for game in self.games:
            named = pools(game, self.recipe.pools_of(game))
            check_overlap(self.recipe, game, (one for pool in PLAYED for one in named[pool].make(game)))

    def collector(self, game: Game[Any], player: ModelPlayer, key: Key) -> SEPOCollector:
        recipe, pools = self.recipe, self.recipe.pools_of(game)
        return SEPOCollector(recipe.sepo, game, player, key, recipe.exact_budget, pools, recipe.policy_replies)
