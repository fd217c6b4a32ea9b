"""SEPO's settings, and what each game's penalties cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from stratagem.algorithms.objective import ObjectiveSettings
from stratagem.algorithms.provided import SEPO, Provided
from stratagem.evaluation.metrics.safety import WEIGHTS, Weights
from stratagem.learning.advantages.catalogue import NamedAdvantage, read_advantage
from stratagem.learning.losses.catalogue import NamedLoss, read_loss
from stratagem.learning.optimizer import OptimizerSettings

REPLACED = {
    "optimiser": "optimizer",
    "kl": "loss = { kl_coef = ... }",
    "clip": "loss = { clip_range_low = ..., clip_range_high = ... }",
    "normalise": "advantage = { unit = ... }",
    "horizon": "advantage = { return_to_go = ... }",
}
"""Replaced keys; most became parameters of the loss and of the estimator."""


class SEPOSettings(ObjectiveSettings):
    """How SEPO trains."""

    provided: ClassVar[Provided] = SEPO
    replaced: ClassVar[Mapping[str, str]] = REPLACED

    iterations: int = Field(default=100, ge=1)
    """How often it plays and learns; each is a step."""
    rollouts: int = Field(default=4, ge=2)
    """How many rollouts make a group (K)."""
    groups: int = Field(default=2, ge=1)
    """How many groups there are for each opponent in an iteration; the hero's seat rotates between them."""
    loss: NamedLoss = read_loss("sepo")
    """The loss of a batch, by name with its parameters. The default is the clipped surrogate with a one-sided KL
    penalty, divided by the number of decisions."""
    advantage: NamedAdvantage = read_advantage("per_round")
    """The estimator of the advantage, by name with its parameters. The default compares each round with the same round
    of the other rollouts, by all that comes from it on; `{ return_to_go = false }` takes what it paid itself (the
    paper's), and `{ unit = "episode" }` compares whole episodes."""
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
    optimizer: OptimizerSettings = OptimizerSettings(learning_rate=1e-5)
    """How the weights are moved."""

    @property
    def updates(self) -> int:
        """Steps of the optimizer in an iteration."""
        return 1

    def weights(self, family: str) -> dict[str, float]:
        """The cost of each penalty in a game of this family."""
        own: dict[str, float] = WEIGHTS.get(family, Weights(0.0, 0.0, 0.0))._asdict()
        given = {"exploit": self.alpha, "collusion": self.beta, "externality": self.gamma}
        return {name: own[name] if given[name] is None else float(given[name] or 0.0) for name in own}

    def asks_best_responses(self, family: str) -> bool:
        """Whether the best response to the policy is worked out in a game of this family."""
        return self.source == "best_response" and self.credit != "none" and self.weights(family)["exploit"] > 0.0
