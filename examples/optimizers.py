"""An optimizer and a learning-rate schedule of your own: each is one class with one method."""

from dataclasses import dataclass

import torch

from stratagem.learn.optimizer import OptimizerMethod, OptimizerSettings, WeightGroups
from stratagem.learn.schedules import LearningRateSchedule


@dataclass(frozen=True)
class InverseRoot(LearningRateSchedule):
    """Inverse square root of the time: `1 / sqrt(1 + speed progress)`."""

    speed: float = 10.0
    """Speed of the decay."""

    def factor(self, progress: float) -> float:
        return 1.0 / float((1.0 + self.speed * progress) ** 0.5)


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
