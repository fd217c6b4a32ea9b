"""GRPO (Shao et al. 2024) on branched rollouts: G rollouts from one state, and the advantage of each over its group.

    A_i = (R_i - mean(R_1..R_G)) / std(R_1..R_G)

The state is reached by a prefix player, so that rollouts start in all parts of a game (`collector.py`).
"""

from __future__ import annotations

from typing import Any

from stratagem.algorithms.grpo.collector import GRPOCollector, check_game
from stratagem.algorithms.grpo.opponents import OpponentMixture
from stratagem.algorithms.grpo.recipe import GRPORecipe
from stratagem.algorithms.grpo.settings import SELF
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.players.model_player import ModelPlayer
from stratagem.players.pools import make_bot
from stratagem.training.algorithm import OnlineAlgorithm, check_opponents, check_overlap
from stratagem.training.message_branches import check_messages


class GRPOAlgorithm(OnlineAlgorithm[GRPORecipe]):
    """GRPO on branched rollouts."""

    recipe_type = GRPORecipe

    def check(self) -> None:
        super().check()
        recipe = self.recipe
        for game in self.games:
            check_game(recipe.grpo, game)
            check_messages(recipe.grpo.advantage, game)
            others = recipe.grpo.opponents.keys() - {SELF}
            check_opponents(recipe, game, recipe.grpo.prefix_player, *others)
            check_overlap(recipe, game, (make_bot(name, game) for name in sorted(others)))

    def collector(self, game: Game[Any], player: ModelPlayer, key: Key) -> GRPOCollector:
        settings = self.recipe.grpo
        return GRPOCollector(settings, game, player, key, OpponentMixture(settings.opponents, game, player))
