"""Joint loss of a policy and a value head."""

from __future__ import annotations

from dataclasses import dataclass

from stratagem.base.options import within
from stratagem.learn.losses.policy_gradient import PolicyGradient
from stratagem.learn.losses.sharing import NormalizeBy
from stratagem.learn.losses.total import LossTerm, Summed
from stratagem.learn.losses.value import Value


@dataclass(frozen=True, kw_only=True)
class PPO(Summed):
    """Proximal policy optimization (PPO): the clipped policy gradient plus `value_coef` times the clipped value loss.

    Reference: Schulman et al. 2017, eq. 9; trl 0.11's PPOTrainer, whose defaults ShapeLLM prints: clips of .2, one
    epoch.
    What differs: trl drops a batch whose mean ratio is above 10; here the ratio's range is a metric, and checks look at
    it. The divergence from the reference is a term of the reward, not of the loss.
    When not: with long games and a fresh value head its loss is greater than the policy's by orders of magnitude; lower
    `value_coef`, as ShapeLLM does, or use a group's mean for a baseline.
    """

    clip_range: float = 0.2
    """Clip range of the ratio around 1."""
    clip_range_value: float | None = 0.2
    """Clip range of the value around the old value; None does not clip."""
    value_coef: float = 0.2
    """Coefficient of the value loss."""
    entropy_coef: float = 0.0
    """Coefficient of the entropy bonus over the allowed tokens; ShapeLLM anneals it."""
    normalize_by: NormalizeBy = "token"
    """Divisor of the summed token losses: the tokens, each example's tokens, or a given divisor."""

    def __post_init__(self) -> None:
        within(None, "clip_range", self.clip_range, 0.0, 1.0)
        within(None, "value_coef", self.value_coef, 0.0)
        if self.clip_range_value is not None:
            within(None, "clip_range_value", self.clip_range_value, 0.0)
        self.parts()  # which refuse the rest

    def parts(self) -> tuple[LossTerm, ...]:
        policy = PolicyGradient(
            clip_range_low=self.clip_range,
            clip_range_high=self.clip_range,
            entropy_coef=self.entropy_coef,
            normalize_by=self.normalize_by,
        )
        value = Value(clip_range=self.clip_range_value, normalize_by=self.normalize_by)
        return LossTerm("policy", 1.0, policy), LossTerm("value", self.value_coef, value)
