"""Adaptive KL coefficient: raised or lowered until the KL divergence from the reference is near its target.

A rule by name says by which factor. `proportional` is that of Ziegler et al. 2019, `doubling` that of PPO's paper.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

from pydantic import Field, PlainSerializer, PlainValidator, model_validator

from stratagem.base.named import NamedObject, RegistryReader, in_a_recipe
from stratagem.base.registry import Registry
from stratagem.base.settings import FiniteSettings
from stratagem.learn.advantages.base import Floats


class KLRule(ABC):
    """Rule that adapts the coefficient of a KL penalty: a pure function of the relative error."""

    least_error: ClassVar[float] = 0.0
    """Smallest clip range of the relative error under which the rule can act."""

    @abstractmethod
    def factor(self, error: float, share: float) -> float:
        """Return the factor of the coefficient.

        `error` is KL / target - 1, within the clip range of the settings where they have one; `share` is the number of
        decisions it was measured on, divided by `num_decisions`.
        """


@dataclass(frozen=True)
class ProportionalRule(KLRule):
    """`1 + error share` (Ziegler et al. 2019, section 2.2); trl 0.11's AdaptiveKLController, which ShapeLLM uses.

    What differs: at once the coefficient is never more than halved.
    """

    def factor(self, error: float, share: float) -> float:
        # over very many decisions at once the factor would be zero or negative: the penalty would become a reward
        return max(0.5, 1.0 + error * share)


@dataclass(frozen=True)
class DoublingRule(KLRule):
    """2 where KL > 1.5 target, 1/2 where KL < target / 1.5, and 1 between (Schulman et al. 2017, section 4).

    The clip range `max_error` of the settings must be at least .5: a smaller one hides KL > 1.5 target.
    """

    least_error: ClassVar[float] = 0.5

    def factor(self, error: float, share: float) -> float:
        ratio = 1.0 + error
        return 2.0 if ratio >= _BAND else 0.5 if ratio <= 1.0 / _BAND else 1.0


_BAND = 1.5
"""Ratio of the KL divergence to its target, and of the target to it, up to which `doubling` leaves the coefficient."""
KL_RULES: dict[str, Callable[..., KLRule]] = {"proportional": ProportionalRule, "doubling": DoublingRule}
"""Rules by name."""

_registry: Registry[KLRule] = Registry("KL rule", KL_RULES, "stratagem.kl_rules", KLRule)

read_kl_rule = RegistryReader(_registry, KLRule)
"""Reader of a rule in a recipe: a text or a table."""
NamedKLRule = Annotated[
    NamedObject[KLRule], PlainValidator(in_a_recipe(read_kl_rule)), PlainSerializer(NamedObject.table)
]
"""Rule that adapts the KL coefficient, as a setting."""


class AdaptiveKLSettings(FiniteSettings):
    """Settings of the adaptive KL penalty to the reference policy."""

    controller: NamedKLRule = read_kl_rule("proportional")
    """Rule that adapts the coefficient, by name: `proportional`, or `doubling`."""
    initial_kl_coef: float = Field(default=0.2, ge=0.0)
    """Initial coefficient beta of the KL penalty."""
    target_kl: float | None = Field(default=6.0, gt=0.0)
    """Target KL divergence in nats per decision; without a target the coefficient is constant."""
    num_decisions: float = Field(default=10_000.0, gt=0.0)
    """Number of decisions after which an unclipped error of 100 % doubles the coefficient."""
    max_error: float = Field(default=0.2, ge=0.0)
    """Clip range of the relative error KL / target - 1."""

    @model_validator(mode="after")
    def _reaches(self) -> Self:
        least = self.controller.value.least_error
        if self.max_error < least:
            raise ValueError(
                f"`max_error` must be at least {least:g} for the controller {self.controller.type}, which acts on "
                "greater errors: raise it, or take another controller"
            )
        return self


class KLController:
    """Coefficient beta of the KL penalty, which the rule of the settings adapts after each update.

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
        self.coefficient *= self.settings.controller.value.factor(error, decisions / self.settings.num_decisions)

    def state(self) -> dict[str, float]:
        """Return the coefficient for a checkpoint."""
        return {"coefficient": self.coefficient}

    def restore(self, state: Mapping[str, float]) -> None:
        """Continue from a state."""
        self.coefficient = state["coefficient"]
