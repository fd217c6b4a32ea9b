"""GRPO on branched rollouts as an algorithm that a recipe names."""

from __future__ import annotations

from typing import Any

from stratagem.algorithms.grpo.collector import GRPO, check_game
from stratagem.algorithms.grpo.opponents import ByShares
from stratagem.algorithms.grpo.recipe import GRPORecipe
from stratagem.algorithms.grpo.settings import SELF
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.players.model_player import ModelPlayer
from stratagem.training.algorithm import OnlineAlgorithm, check_opponents


class GRPOAlgorithm(OnlineAlgorithm[GRPORecipe]):
    """Branched rollouts from positions that others made."""

    recipe_type = GRPORecipe

    def check(self) -> None:
        super().check()
        recipe = self.recipe
        for game in self.games:
            check_game(recipe.grpo, game)
            check_opponents(recipe, game, recipe.grpo.prefix_player, *(recipe.grpo.opponents.keys() - {SELF}))

    def collector(self, game: Game[Any], player: ModelPlayer, key: Key) -> GRPO:
        settings = self.recipe.grpo
        return GRPO(settings, game, player, key, ByShares(settings.opponents, game, player))
