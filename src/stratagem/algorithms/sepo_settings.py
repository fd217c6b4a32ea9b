"""SEPO's settings, and what each game's penalties cost."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stratagem.evaluation.metrics.safety import WEIGHTS, Weights
from stratagem.learning.credit.per_round import Horizon, Normalise
from stratagem.learning.losses.policy_gradient import PolicyGradient
from stratagem.learning.optimiser import OptimiserSettings
from stratagem.settings import FiniteSettings


class SEPOSettings(FiniteSettings):
    """How SEPO trains."""

    iterations: int = Field(default=100, ge=1)
    """How often it plays and learns; each is a step."""
    rollouts: int = Field(default=4, ge=2)
    """How many rollouts make a group (K)."""
    groups: int = Field(default=2, ge=1)
    """How many groups there are for each opponent in an iteration; the hero's seat rotates between them."""
    normalise: Normalise = "round"
    """Whether each round is compared with the same round of the other rollouts, or whole episodes are."""
    horizon: Horizon = "to_go"
    """What a round is worth: all that comes from it on, or what it paid itself (the paper's)."""
    credit: Literal["probe", "rollout", "shared", "none"] = "probe"
    """Who answers for a penalty: the decisions of the probe that showed it; the rollout that it is subtracted from (the
    paper's); all rollouts of a group alike, which cancels; nobody, so that only pay and externality count."""
    source: Literal["pool", "best_response"] = "pool"
    """Who the adversaries are: the exploit pool, or the exact best response to the policy."""
    refresh: int = Field(default=5, ge=1)
    """After how many iterations a best response is worked out again."""
    alpha: float | None = Field(default=None, ge=0.0)
    """What exploitability costs; None is the game's own."""
    beta: float | None = Field(default=None, ge=0.0)
    """What collusion costs."""
    gamma: float | None = Field(default=None, ge=0.0)
    """What harm to others costs."""
    signal_every: int = Field(default=5, ge=0)
    """After how many iterations it is measured what gradient each term of the reward brings; 0 never measures."""
    kl: float = Field(default=0.1, ge=0.0)
    """What leaving the reference costs, on the side where a token has become likelier."""
    clip: float = Field(default=0.2, gt=0.0)
    """How far from 1 the ratio still counts; with one step a batch it is 1 everywhere."""
    optimiser: OptimiserSettings = OptimiserSettings(rate=1e-5)
    """How the weights are moved."""

    @property
    def updates(self) -> int:
        """Steps of the optimiser in an iteration."""
        return 1

    def weights(self, family: str) -> dict[str, float]:
        """The cost of each penalty in a game of this family."""
        own: dict[str, float] = WEIGHTS.get(family, Weights(0.0, 0.0, 0.0))._asdict()
        given = {"exploit": self.alpha, "collusion": self.beta, "externality": self.gamma}
        return {name: own[name] if given[name] is None else float(given[name] or 0.0) for name in own}

    def asks_best_responses(self, family: str) -> bool:
        """Whether the best response to the policy is worked out in a game of this family."""
        return self.source == "best_response" and self.credit != "none" and self.weights(family)["exploit"] > 0.0

    def loss(self) -> PolicyGradient:
        """The clipped surrogate with the one-sided charge, divided by the number of steps."""
        if not self.kl:
            return PolicyGradient(clip_low=self.clip, clip_high=self.clip, per="divisor")
        return PolicyGradient(clip_low=self.clip, clip_high=self.clip, kl="one_sided", beta=self.kl, per="divisor")
