"""How forks are played and what is made of them."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from stratagem.algorithms.grpo.pieces import SIGNALS
from stratagem.learning.credit.base import Estimator
from stratagem.learning.credit.group_mean import GroupMean
from stratagem.learning.credit.per_order import PerOrder
from stratagem.learning.credit.per_round import PerRound
from stratagem.learning.losses.policy_gradient import PolicyGradient
from stratagem.learning.optimiser import OptimiserSettings
from stratagem.settings import FiniteSettings

TERMS = ("payoff", "parts", "outcome", *SIGNALS)
SELF = "self"
"""The opponent that is the policy itself; then all seats learn."""


class ForkSettings(FiniteSettings):
    """How situations are forked, what an episode is worth, and how that is learnt."""

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
    credit: Literal["episode", "turn"] = "episode"
    """Whether a decision answers for its whole episode, or for what comes from its turn on, against the same turn, or
    time of the game's clock, of the other forks."""
    scale: bool = True
    """Whether what is better than the group is divided by the group's spread."""
    orders: Literal["none", "plus", "times"] = "none"
    """How what a piece of an action is worth itself meets the advantage: not at all, added, or as a factor."""
    order_scale: float = Field(default=1.0, ge=0.0)
    """What it counts where it is added."""
    clip_advantage: float = Field(default=0.0, ge=0.0)
    """Beyond this an advantage is cut; 0 cuts nothing."""
    updates: int = Field(default=1, ge=1)
    """Steps of the optimiser that an iteration makes, among which its examples are dealt out."""
    entropy: float = Field(default=0.01, ge=0.0)
    """The bonus for the entropy of what was allowed."""
    kl: float = Field(default=0.0, ge=0.0)
    """What leaving the reference costs."""
    clip_low: float = Field(default=0.2, ge=0.0, le=1.0)
    """How far below 1 a ratio still counts."""
    clip_high: float = Field(default=0.28, ge=0.0)
    """How far above 1 a ratio still counts."""
    optimiser: OptimiserSettings = OptimiserSettings(rate=1e-5)
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

    def estimator(self) -> Estimator:
        """Where advantages come from."""
        whole: Estimator = GroupMean(scale=self.scale, weights=self.terms)
        if self.credit == "turn":
            whole = PerRound(scale=self.scale, weights=self.terms)
        return whole if self.orders == "none" else PerOrder(of=whole, how=self.orders, scale=self.order_scale)

    def loss(self) -> PolicyGradient:
        """The clipped surrogate with a bonus for entropy, over all tokens alike."""
        return PolicyGradient(
            clip_low=self.clip_low,
            clip_high=self.clip_high,
            kl="k3" if self.kl else "none",
            beta=self.kl,
            entropy=self.entropy,
        )


class GRPOSettings(ForkSettings):
    """Fork a situation, play on, and say more often what went better than in the other forks."""

    signal_every: int = Field(default=5, ge=0)
    """After how many iterations it is measured what gradient each term brings; 0 never measures. Where `orders`
    are added nothing is measured, since what a token is taught is then no sum of the terms."""
    opponents: dict[str, float] = Field(default={SELF: 1.0}, min_length=1)
    """Who plays the other seats, and how often; one is drawn a situation. `self` is the policy, and all learn."""

    @model_validator(mode="after")
    def _shares(self) -> Self:
        if min(self.opponents.values()) < 0.0 or not sum(self.opponents.values()):
            raise ValueError("`opponents` have shares that are not negative, and not all nothing")
        return self
