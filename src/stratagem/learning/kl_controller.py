"""What leaving the reference costs, raised or lowered until the policy is about as far from it as it is meant to be."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pydantic import Field

from stratagem.learning.advantages.base import Floats
from stratagem.settings import Settings


class KLSettings(Settings):
    """What leaving the reference costs."""

    start: float = Field(default=0.2, ge=0.0)
    """The coefficient at first."""
    target: float | None = Field(default=6.0, gt=0.0)
    """How far the policy is meant to be from the reference, in nats a decision; without it the coefficient stays."""
    horizon: float = Field(default=10_000.0, gt=0.0)
    """After so many decisions an error of 100 % would have doubled the coefficient, were errors not bounded."""
    bound: float = Field(default=0.2, ge=0.0)
    """The largest error that counts, either way, as a share of the target."""


class KLController:
    """The coefficient of the charge: `beta <- beta (1 + clip(KL / target - 1, -bound, bound) n / horizon)`.

    At once it is never more than halved.
    Reference: Ziegler 2019, section 2.2; trl 0.11's AdaptiveKLController, which ShapeLLM trains with: .2, 6, 10,000.
    When not: one token a decision is hardly ever 6 nats from its reference, so there the coefficient only falls, by
    .2 % every 100 decisions; give a target that can be reached, or none.
    """

    def __init__(self, settings: KLSettings) -> None:
        self.settings = settings
        self.coefficient = settings.start

    def charge(self, policy_logprobs: Floats, reference_logprobs: Floats) -> Floats:
        """What is added to the reward of each token: `-beta (log pi - log ref)`, whose mean is the divergence."""
        return -self.coefficient * (policy_logprobs - reference_logprobs)

    def update(self, kl: float, decisions: int) -> None:
        """Take note of how far the policy was from the reference over so many decisions."""
        target, bound = self.settings.target, self.settings.bound
        if target is None or math.isnan(kl):
            return
        error = min(bound, max(-bound, kl / target - 1.0))
        # over many horizons at once the factor would be nought or negative: a charge that pays for leaving
        self.coefficient *= max(0.5, 1.0 + error * decisions / self.settings.horizon)

    def state(self) -> dict[str, float]:
        """All that a later update depends on."""
        return {"coefficient": self.coefficient}

    def restore(self, state: Mapping[str, float]) -> None:
        """Go on from a state."""
        self.coefficient = state["coefficient"]
