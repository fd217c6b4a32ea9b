"""Settings of branched rollouts and of GRPO on them."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from stratagem.algorithms.grpo.pieces import SIGNALS
from stratagem.learning.advantages.catalogue import NamedAdvantage, read_advantage
from stratagem.learning.losses.catalogue import NamedLoss, read_loss
from stratagem.learning.optimizer import OptimizerSettings
from stratagem.training.objective import ObjectiveSettings
from stratagem.training.provided import GRPO, Provided

TERMS = ("payoff", "parts", "outcome", *SIGNALS)
SELF = "self"
"""Name of the policy itself as an opponent: self-play, in which all seats are trained."""


class BranchedRolloutSettings(ObjectiveSettings):
    """Branched rollouts from a state, their reward, and the policy gradient on them."""

    provided: ClassVar[Provided] = GRPO
    iterations: int = Field(default=30, ge=1)
    """Number of iterations; each has rollouts and optimizer steps."""
    groups_per_batch: int = Field(default=7, ge=1)
    """Number of groups in an iteration; of each game. A group branches from one state."""
    stratified: bool = True
    """Rotation of the agent's seat from group to group, so that all seats are equally frequent; if false, the seat is
    drawn for each group, as in the source, where some powers did badly."""
    group_size: int = Field(default=4, ge=2)
    """Number of rollouts in a group; branched from one state (GRPO's G)."""
    prefix_player: str = "random"
    """Player of all seats up to the branching state."""
    prefix_turns: tuple[int, int] = (0, 0)
    """Minimum and maximum number of turns before the branching state."""
    horizon_phases: int = Field(default=0, ge=0)
    """Turns, or ticks of the game's clock (a year of Diplomacy has five phases), after which a rollout is cut and its
    position is valued, in games that value one; 0 plays to the end."""
    chance_seeds: Literal["independent", "shared"] = "independent"
    """Randomness of the other seats: `independent` in every rollout, or `shared` by the rollouts of a group. Shared
    seeds make the others act alike at first, so that rollouts differ by the policy's own actions."""
    reward_weights: dict[str, float] = Field(default={"payoff": 1.0}, min_length=1)
    """Weights of the reward's terms: `payoff`, `parts` (values of the parts of an action), `outcome` (the game's value
    of the end beside its payoff), and the safety signals `externality` and `collusion` of each round. A penalty has a
    negative weight."""
    loss: NamedLoss = read_loss("policy_gradient(clip_range_high=0.28, entropy_coef=0.01)")
    """Loss of a batch, by name with its parameters."""
    advantage: NamedAdvantage = read_advantage("group_mean")
    """Advantage estimator, by name with its parameters. `group_mean` compares whole episodes of a group;
    `per_round` compares what comes from a turn on, or from a time of the game's clock, with the same turn of the other
    rollouts; `role_baseline` compares an episode with the moving average of its seat; `per_order` adds an order's own
    reward."""
    message_alternatives: int = Field(default=2, ge=1)
    """Messages that are drawn in the place of each message, where the estimator compares it with alternatives."""
    advantage_clip: float = Field(default=0.0, ge=0.0)
    """Advantages are clipped to [-c, c]; 0 clips nothing."""
    optimizer_steps: int = Field(default=1, ge=1)
    """Optimizer steps of an iteration, over which its examples are split."""
    optimizer: OptimizerSettings = OptimizerSettings(learning_rate=1e-5)
    """Optimizer of the trained weights."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if not 0 <= self.prefix_turns[0] <= self.prefix_turns[1]:
            raise ValueError("`prefix_turns` are two numbers, at least and at most so many, such as [0, 8]")
        if unknown := sorted(set(self.reward_weights) - set(TERMS)):
            raise ValueError(f"there is no term {unknown[0]!r}: terms are {', '.join(TERMS)}")
        if self.horizon_phases and self.reward_weights.get("outcome"):
            raise ValueError(
                "a rollout that is cut at `horizon_phases` has no end, so it has no term outcome: set it to 0"
            )
        return self

    @property
    def reward_terms(self) -> frozenset[str]:
        return frozenset(self.reward_weights)


class GRPOSettings(BranchedRolloutSettings):
    """GRPO (Shao et al. 2024) on branched rollouts."""

    signal_every: int = Field(default=5, ge=0)
    """Iterations between two measurements of the reward terms' gradients; 0 measures none. Estimators that do not
    separate the terms, such as `role_baseline` and `per_order`, have none."""
    opponents: dict[str, float] = Field(default={SELF: 1.0}, min_length=1)
    """Opponents in training, each with its share; one is drawn for each group. `self` is the policy; then all
    seats learn."""

    @model_validator(mode="after")
    def _shares(self) -> Self:
        if min(self.opponents.values()) < 0.0 or not sum(self.opponents.values()):
            raise ValueError("`opponents` have shares that are not negative, and not all nothing")
        if self.chance_seeds == "shared" and not sum(share for name, share in self.opponents.items() if name != SELF):
            raise ValueError(
                '`chance_seeds = "shared"` makes other players act alike, and in self-play there are none: leave it '
                "out, or name them in `opponents`"
            )
        return self
