"""AdamW with a schedule and a bound on the gradient's norm."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal

import torch
from pydantic import Field

from stratagem.settings import Settings


class OptimiserSettings(Settings):
    """How weights are moved."""

    rate: float = Field(default=1e-5, gt=0.0)
    """The learning rate at its highest."""
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    """How the rate falls from there to nothing; constant does not."""
    warm_up: float = Field(default=0.0, ge=0.0, le=1.0)
    """The share of all steps over which the rate rises from nothing."""
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    decay: float = Field(default=0.0, ge=0.0)
    """Weight decay, decoupled."""
    clip: float = Field(default=1.0, gt=0.0)
    """The largest norm that the gradient may have; a larger one is scaled down."""


class Optimiser:
    """AdamW over some weights (Loshchilov and Hutter 2019), stepped with the schedule."""

    def __init__(self, weights: Iterable[torch.nn.Parameter], settings: OptimiserSettings, steps: int) -> None:
        """`steps` are all that will be taken, which the schedule must know."""
        self.weights = list(weights)
        self.settings = settings
        self.steps = steps
        self.taken = 0
        self._adam = torch.optim.AdamW(
            self.weights,
            lr=settings.rate,
            betas=settings.betas,
            eps=settings.epsilon,
            weight_decay=settings.decay,
        )

    @property
    def rate(self) -> float:
        """The learning rate of the next step."""
        return self.settings.rate * share_at(self.settings, self.taken, self.steps)

    def step(self) -> float:
        """Take a step along the gradients that are there, and clear them; the norm that they had."""
        norm = float(torch.nn.utils.clip_grad_norm_(self.weights, self.settings.clip))
        if math.isfinite(norm):
            for group in self._adam.param_groups:
                group["lr"] = self.rate
            self._adam.step()
        self._adam.zero_grad(set_to_none=True)
        self.taken += 1
        return norm

    def state(self) -> dict[str, Any]:
        """All that a later step depends on."""
        return {"adam": self._adam.state_dict(), "taken": self.taken}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self._adam.load_state_dict(state["adam"])
        self.taken = state["taken"]


def share_at(settings: OptimiserSettings, taken: int, steps: int) -> float:
    """The share of the highest rate after some steps of all."""
    rising = round(settings.warm_up * steps)
    if taken < rising:
        return (taken + 1) / rising
    progress = min(1.0, (taken - rising) / max(1, steps - rising))
    falls = {"constant": 1.0, "linear": 1.0 - progress, "cosine": 0.5 * (1.0 + math.cos(math.pi * progress))}
    return falls[settings.schedule]
