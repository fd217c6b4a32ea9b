"""How forks are played and what is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from stratagem.algorithms.grpo.pieces import SIGNALS
from stratagem.algorithms.objective import ObjectiveSettings
from stratagem.algorithms.provided import GRPO, Provided
from stratagem.learning.advantages.catalogue import NamedAdvantage, read_advantage
from stratagem.learning.losses.catalogue import NamedLoss, read_loss
from stratagem.learning.optimizer import OptimizerSettings

TERMS = ("payoff", "parts", "outcome", *SIGNALS)
REPLACED = {
    "optimiser": "optimizer",
    "kl": 'loss = { kl_estimator = "k3", kl_coef = ... }',
    "entropy": "loss = { entropy_coef = ... }",
    "clip_low": "loss = { clip_range_low = ... }",
    "clip_high": "loss = { clip_range_high = ... }",
    "credit": 'advantage = "group_mean" (episode) or advantage = "per_round" (turn)',
    "scale": "advantage = { normalize_std = ... }",
    "orders": 'advantage = { type = "per_order", combine = ... }',
    "order_scale": 'advantage = { type = "per_order", weight_coef = ... }',
}
"""Replaced keys; most became parameters of the loss and of the estimator."""
SELF = "self"
"""The opponent that is the policy itself; then all seats learn."""


class ForkSettings(ObjectiveSettings):
    """How situations are forked, what an episode is worth, and how that is learnt."""

    provided: ClassVar[Provided] = GRPO
    replaced: ClassVar[Mapping[str, str]] = REPLACED

    iterations: int = Field(default=30, ge=1)
    """How often it plays and learns."""
    groups: int = Field(default=7, ge=1)
    """How many situations of each game are forked in an iteration."""
    stratified: bool = True
    """Whether the hero's seat goes round from one situation to the next, so that all seats come up alike; else it is
    drawn for each, as in the source, of whose powers some came off badly."""
    forks: int = Field(default=4, ge=2)
    """How often each is played on."""
    warm_up: str = "random"
    """Who plays all seats up to the situation."""
    turns: tuple[int, int] = (0, 0)
    """At least and at most so many turns are played up to it."""
    horizon: int = Field(default=0, ge=0)
    """After so many turns, or ticks of the game's clock (Diplomacy's year has five phases), a fork is stopped and paid
    what its position is worth, in games that say so; 0 plays on to the end."""
    dice: Literal["own", "alike"] = "own"
    """Whether the others throw dice of their own in every fork, or the same in all forks of a situation: then what they
    do at first is the same, and what differs between the forks is of the learner's making."""
    terms: dict[str, float] = Field(default={"payoff": 1.0}, min_length=1)
    """What the reward is made of: `payoff`, `parts` (what the pieces of actions are worth), `outcome` (what the game
    says that the end is worth beside its payoff), and the safety signals `externality` and `collusion` of each round,
    each with its weight; what is charged for has a negative one."""
    loss: NamedLoss = read_loss("policy_gradient(clip_range_high=0.28, entropy_coef=0.01)")
    """The loss of a batch, by name with its parameters."""
    advantage: NamedAdvantage = read_advantage("group_mean")
    """The estimator of the advantage, by name with its parameters. `group_mean` compares whole episodes of a group;
    `per_round` compares what comes from a turn on, or from a time of the game's clock, with the same turn of the other
    forks; `role_baseline` compares an episode with the moving average of its seat; `per_order` adds an order's own
    reward."""
    clip_advantage: float = Field(default=0.0, ge=0.0)
    """Beyond this an advantage is cut; 0 cuts nothing."""
    updates: int = Field(default=1, ge=1)
    """Steps of the optimizer that an iteration makes, among which its examples are dealt out."""
    optimizer: OptimizerSettings = OptimizerSettings(learning_rate=1e-5)
    """How the weights are moved."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if not 0 <= self.turns[0] <= self.turns[1]:
            raise ValueError("`turns` are two numbers, at least and at most so many, such as [0, 8]")
        if unknown := sorted(set(self.terms) - set(TERMS)):
            raise ValueError(f"there is no term {unknown[0]!r}: terms are {', '.join(TERMS)}")
        if self.horizon and self.terms.get("outcome"):
            raise ValueError(
                "a fork that stops at a `horizon` has no end, so the term outcome would not be paid: set it to 0"
            )
        return self

    @property
    def reward_terms(self) -> frozenset[str]:
        return frozenset(self.terms)


class GRPOSettings(ForkSettings):
    """Fork a situation, play on, and say more often what went better than in the other forks."""

    signal_every: int = Field(default=5, ge=0)
    """After how many iterations it is measured what gradient each term brings; 0 never measures. Where
    the estimator does not tell the terms apart, as `role_baseline` and `per_order` do not, nothing is measured."""
    opponents: dict[str, float] = Field(default={SELF: 1.0}, min_length=1)
    """Who plays the other seats, and how often; one is drawn a situation. `self` is the policy, and all learn."""

    @model_validator(mode="after")
    def _shares(self) -> Self:
        if min(self.opponents.values()) < 0.0 or not sum(self.opponents.values()):
            raise ValueError("`opponents` have shares that are not negative, and not all nothing")
        return self
