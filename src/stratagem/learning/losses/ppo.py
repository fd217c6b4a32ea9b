"""A policy and a value head, learnt together."""

from __future__ import annotations

from dataclasses import dataclass

from stratagem.learning.losses.policy_gradient import PolicyGradient
from stratagem.learning.losses.sharing import Per
from stratagem.learning.losses.total import Part, Summed
from stratagem.learning.losses.value import Value
from stratagem.options import within


@dataclass(frozen=True, kw_only=True)
class PPO(Summed):
    """Proximal policy optimization: the clipped policy gradient plus `c_vf` times the clipped value loss.

    Reference: Schulman 2017, eq. 9; trl 0.11's PPOTrainer, whose defaults ShapeLLM prints: clips of .2, one epoch.
    What differs: trl drops a batch whose mean ratio is above 10; here the ratio's range is a metric, and checks look at
    it. The divergence from the reference is part of the reward (credit), not of the loss.
    When not: with long games and a fresh value head its loss is greater than the policy's by orders of magnitude; lower
    `c_vf`, as ShapeLLM does, or use a group's mean for a baseline.
    """

    clip: float = 0.2
    """How far from 1 the ratio still counts."""
    value_clip: float | None = 0.2
    """How far from the old value a value still counts."""
    c_vf: float = 0.2
    """The weight of the value loss."""
    entropy: float = 0.0
    """The bonus for the entropy over what was allowed; ShapeLLM lets it decay from step to step."""
    per: Per = "token"
    """What both losses are divided by."""

    def __post_init__(self) -> None:
        within(self, "clip", self.clip, 0.0, 1.0)
        within(self, "c_vf", self.c_vf, 0.0)
        if self.value_clip is not None:
            within(self, "value_clip", self.value_clip, 0.0)
        self.parts()  # which refuse the rest

    def parts(self) -> tuple[Part, ...]:
        policy = PolicyGradient(clip_low=self.clip, clip_high=self.clip, entropy=self.entropy, per=self.per)
        return Part("policy", 1.0, policy), Part("value", self.c_vf, Value(clip=self.value_clip, per=self.per))
