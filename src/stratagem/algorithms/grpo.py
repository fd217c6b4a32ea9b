"""GRPO (Shao et al. 2024) on branched rollouts: G rollouts from one state, and the advantage of each over its group.

    A_i = (R_i - mean(R_1..R_G)) / std(R_1..R_G)

The state is reached by a prefix player, so that rollouts start in all parts of a game (`branched_rollouts`).

Reference: DeepSeekMath (Shao et al. 2024), section 4.1; branched states are those of league-trained no-press Diplomacy.
What differs: the G rollouts start in the middle of a game, an action may have an advantage for each of its parts, the
group mean and the division by the standard deviation are the estimator `group_mean`, and the KL penalty is a setting of
the loss. With `policies` each seat has a policy, perhaps on a model of its own, and they learn from the same episodes.
When not: where one game is too long to be played G times from each state, take REINFORCE with its moving baseline.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.players.model_player import ModelPlayer
from stratagem.players.pools import make_bot
from stratagem.training.algorithm import OnlineAlgorithm, check_opponents, check_overlap
from stratagem.training.branched_rollouts import BranchedRollouts, BranchedRolloutSettings, check_game
from stratagem.training.learner_models import LearnerModelSettings, check_learner_name, lay_over_optimizer
from stratagem.training.message_branches import check_messages
from stratagem.training.opponents.pool import SELF, OpponentPool, PoolSettings, Snapshots, check_snapshots
from stratagem.training.recipe import OpponentsRecipe
from stratagem.training.seated_rollouts import (
    SeatedRollouts,
    SeatPolicySettings,
    check_policies_of_seats,
    check_seats_of_game,
)

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
    learners_table: ClassVar[str] = "policies"
    stage_name: ClassVar[str] = "grpo"

    algorithm: Literal["grpo"] = "grpo"
    """Name of the algorithm."""
    grpo: GRPOSettings = GRPOSettings()
    """Settings of GRPO."""
    policies: dict[str, SeatPolicySettings] = Field(default={})
    """Policies by names of your own, each with its seats and, where it says so, its own model; they play each other.
    Without this table one policy plays all seats."""

    @model_validator(mode="before")
    @classmethod
    def _over_optimizer(cls, data: Any) -> Any:
        return lay_over_optimizer(data, cls.learners_table, cls.stage_name, cls.model_fields["grpo"].default)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for name in self.policies:
            check_learner_name(name, "policy")
        check_policies_of_seats(self.policies)
        settings = self.grpo
        only_self = settings.matchmaker.type == "shares" and set(settings.opponents) == {SELF}
        if self.policies and not (only_self and not settings.snapshot_every):
            raise ValueError(
                "`policies` play each other, and nobody else: leave `opponents`, `matchmaker` and `snapshot_every` of "
                "`grpo` out, or train a league"
            )
        if self.policies and self.overlap:
            raise ValueError("`policies` meet each other's present weights, so `overlap` must be 0")
        return self

    @property
    def learners_by_name(self) -> Mapping[str, LearnerModelSettings]:
        return self.policies or super().learners_by_name

    @property
    def seats_of_learners(self) -> Mapping[str, tuple[int, ...]]:
        return {name: policy.seats for name, policy in self.policies.items()}

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
            if recipe.policies:
                check_seats_of_game(recipe.policies, game)
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

    def seated_collector(self, game: Game[Any], players: Mapping[str, ModelPlayer], key: Key) -> SeatedRollouts:
        return SeatedRollouts(self.recipe.grpo, game, players, self.recipe.seats_of_learners, key)
