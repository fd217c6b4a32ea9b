"""A run of SEPO."""

from __future__ import annotations

from typing import Any

from stratagem.algorithms.possible import check_games
from stratagem.algorithms.recipe import Recipe
from stratagem.algorithms.sepo import SEPO
from stratagem.algorithms.trainer import Trainer
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.players.model_player import ModelPlayer


class SEPOTrainer(Trainer[Recipe]):
    """Rollouts against the train pool, and probes."""

    def check(self) -> None:
        check_games(self.recipe, self.games)

    def collector(self, game: Game[Any], hero: ModelPlayer, key: Key) -> SEPO:
        return SEPO(self.recipe.sepo, game, hero, key, self.recipe.exact_budget)
