"""GRPO (Shao et al. 2024) on branched rollouts: G rollouts from one state, and the advantage of each over its group.

    A_i = (R_i - mean(R_1..R_G)) / std(R_1..R_G)

The state is reached by a prefix player, so that rollouts start in all parts of a game (`branched_rollouts`).

Reference: DeepSeekMath (Shao et al. 2024), section 4.1; branched states are those of league-trained no-press Diplomacy.
What differs: the G rollouts start in the middle of a game, an action may have an advantage for each of its parts, the
group mean and the division by the standard deviation are the estimator `group_mean`, and the KL penalty is a setting of
the loss.
When not: where the seats must not share a policy; where one game is too long to be played G times from each state, take
REINFORCE with its moving baseline.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.players.model_player import ModelPlayer
from stratagem.players.pools import make_bot
from stratagem.training.algorithm import OnlineAlgorithm, check_opponents, check_overlap
from stratagem.training.branched_rollouts import BranchedRollouts, BranchedRolloutSettings, check_game
from stratagem.training.message_branches import check_messages
from stratagem.training.opponents.pool import SELF, OpponentPool, PoolSettings, Snapshots, check_snapshots
from stratagem.training.recipe import OpponentsRecipe

__path__: list[str] = []  # an import of a module that was below this name is answered by `base.moved` until 0.5


class GRPOSettings(BranchedRolloutSettings, PoolSettings):
    """GRPO (Shao et al. 2024) on branched rollouts."""

    signal_every: int = Field(default=5, ge=0)
    """Iterations between two measurements of the reward terms' gradients; 0 measures none. Estimators that do not
    separate the terms, such as `role_baseline` and `per_order`, have none."""
    opponents: dict[str, float] = Field(default={SELF: 1.0}, min_length=1)
    """Opponents in training, each with its share; one is drawn for each group. `self` is the policy; then all
    seats learn."""

    @model_validator(mode="after")
    def _others(self) -> Self:
        others = sum(share for name, share in self.opponents.items() if name != SELF)
        if self.chance_seeds == "shared" and self.matchmaker.type == "shares" and not others:
            raise ValueError(
                '`chance_seeds = "shared"` makes other players act alike, and in self-play there are none: leave it '
                "out, or name them in `opponents`"
            )
        return self


class GRPORecipe(OpponentsRecipe):
    """SFT, then GRPO on branched rollouts."""

    title: ClassVar[str] = "GRPO"
    stage_name: ClassVar[str] = "grpo"

    algorithm: Literal["grpo"] = "grpo"
    """Name of the algorithm."""
    grpo: GRPOSettings = GRPOSettings()
    """Settings of GRPO."""

    @property
    def stage(self) -> GRPOSettings:
        return self.grpo

    @property
    def signal_every(self) -> int:
        return self.grpo.signal_every


class GRPOAlgorithm(OnlineAlgorithm[GRPORecipe]):
    """GRPO on branched rollouts."""

    recipe_type = GRPORecipe

    def check(self) -> None:
        super().check()
        recipe = self.recipe
        check_snapshots(recipe, recipe.grpo)
        for game in self.games:
            check_game(recipe.grpo, game)
            check_messages(recipe.grpo.advantage, game)
            others = recipe.grpo.others
            check_opponents(recipe, game, recipe.grpo.prefix_player, *others)
            check_overlap(recipe, game, (make_bot(name, game) for name in sorted(others)))

    @cached_property
    def snapshots(self) -> Snapshots:
        """Snapshots of the policy, which the opponents of all games share."""
        return Snapshots(self.run.path, self.recipe.grpo)

    def collector(self, game: Game[Any], player: ModelPlayer, key: Key) -> BranchedRollouts:
        settings = self.recipe.grpo
        opponents = OpponentPool(settings, game, player, self.snapshots)
        return BranchedRollouts(settings, game, player, key, opponents)
