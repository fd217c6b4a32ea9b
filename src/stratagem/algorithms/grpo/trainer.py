"""A run of GRPO on forks."""

from __future__ import annotations

from typing import Any

from stratagem.algorithms.grpo.collector import GRPO, check_game
from stratagem.algorithms.grpo.opponents import ByShares
from stratagem.algorithms.grpo.recipe import GRPORecipe
from stratagem.algorithms.trainer import Trainer
from stratagem.errors import CannotCompute
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.players.catalogue import make_player
from stratagem.players.model_player import ModelPlayer


class GRPOTrainer(Trainer[GRPORecipe]):
    """Warm-ups, forks and what they teach."""

    def check(self) -> None:
        recipe = self.recipe
        for game in self.games:
            check_game(recipe.grpo, game)
            for name in (*recipe.opponents, recipe.grpo.prefix_player, *(recipe.grpo.opponents.keys() - {"self"})):
                make_player(name, game)
            metrics = recipe.suite(game).metrics
            if recipe.checkpoint_metric not in metrics:
                raise CannotCompute(
                    f"`checkpoint_metric` cannot be {recipe.checkpoint_metric} in {game.spec.name}: "
                    f"there are {', '.join(metrics)}."
                )

    def collector(self, game: Game[Any], hero: ModelPlayer, key: Key) -> GRPO:
        settings = self.recipe.grpo
        return GRPO(settings, game, hero, key, ByShares(settings.opponents, game, hero))
