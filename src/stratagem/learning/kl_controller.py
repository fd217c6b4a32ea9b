"""Adaptive KL coefficient: raised or lowered until the KL divergence from the reference is near its target."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pydantic import Field

from stratagem.learning.advantages.base import Floats
from stratagem.settings import FiniteSettings


class AdaptiveKLSettings(FiniteSettings):
    """Settings of the adaptive KL penalty to the reference policy."""

    initial_kl_coef: float = Field(default=0.2, ge=0.0)
    """Initial coefficient beta of the KL penalty."""
    target_kl: float | None = Field(default=6.0, gt=0.0)
    """Target KL divergence in nats per decision; without a target the coefficient is constant."""
    num_decisions: float = Field(default=10_000.0, gt=0.0)
    """Number of decisions after which an unclipped error of 100 % doubles the coefficient."""
    max_error: float = Field(default=0.2, ge=0.0)
    """Clip range of the relative error KL / target - 1."""


class KLController:
    """Coefficient of the KL penalty: `beta <- beta (1 + clip(KL / target - 1, -max_error, max_error) n / N)`.

    At once it is never more than halved.
    Reference: Ziegler 2019, section 2.2; trl 0.11's AdaptiveKLController, which ShapeLLM trains with: .2, 6, 10,000.
    When not: one token a decision is hardly ever 6 nats from its reference, so there the coefficient only falls, by
    .2 % every 100 decisions; give a target that can be reached, or none.
    """

    def __init__(self, settings: AdaptiveKLSettings) -> None:
        self.settings = settings
        self.coefficient = settings.initial_kl_coef

    def penalty(self, policy_logprobs: Floats, reference_logprobs: Floats) -> Floats:
        """Penalty term of the reward of each token: `-beta (log pi - log ref)`."""
        return -self.coefficient * (policy_logprobs - reference_logprobs)

    def update(self, kl: float, decisions: int) -> None:
        """Adapt the coefficient to the KL divergence over a number of decisions."""
        target, bound = self.settings.target_kl, self.settings.max_error
        if target is None or math.isnan(kl):
            return
        error = min(bound, max(-bound, kl / target - 1.0))
        # over very many decisions at once the factor would be zero or negative: the penalty would become a reward
        self.coefficient *= max(0.5, 1.0 + error * decisions / self.settings.num_decisions)

    def state(self) -> dict[str, float]:
        """Return the coefficient for a checkpoint."""
        return {"coefficient": self.coefficient}

    def restore(self, state: Mapping[str, float]) -> None:
        """Continue from a state."""
        self.coefficient = state["coefficient"]
