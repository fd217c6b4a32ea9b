"""An optimizer, a learning-rate schedule and a reference of your own: each is one class with one method."""

from dataclasses import dataclass

import torch

from stratagem.learn.optimizer import OptimizerMethod, OptimizerSettings, WeightGroups
from stratagem.learn.reference import ReferenceRule
from stratagem.learn.schedules import LearningRateSchedule


@dataclass(frozen=True)
class InverseRoot(LearningRateSchedule):
    """Inverse square root of the time: `1 / sqrt(1 + speed progress)`."""

    speed: float = 10.0
    """Speed of the decay."""

    def factor(self, progress: float) -> float:
        return 1.0 / (1.0 + self.speed * progress) ** 0.5


@dataclass(frozen=True)
class Renewed(ReferenceRule):
    """Copy of the policy, renewed every `steps` optimizer steps."""

    steps: int = 50
    """Optimizer steps between two copies."""

    def decay_after(self, steps_taken: int) -> float | None:
        return None if steps_taken % self.steps else 0.0


@dataclass(frozen=True)
class RMSprop(OptimizerMethod):
    """RMSprop of torch, with the settings of the recipe."""

    def make(self, groups: WeightGroups, settings: OptimizerSettings, *, foreach: bool | None) -> torch.optim.Optimizer:
        return torch.optim.RMSprop(
            [dict(group) for group in groups],
            lr=settings.learning_rate,
            alpha=settings.betas[1],
            eps=settings.epsilon,
            weight_decay=settings.weight_decay,
            foreach=foreach,
        )
