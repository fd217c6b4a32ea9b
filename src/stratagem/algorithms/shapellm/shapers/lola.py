"""LOLA: learning with opponent-learning awareness (Foerster et al. 2018), with exact values.

The opponent is assumed to take one naive step, d theta_2 = eta grad_2 V_2. The learner follows the gradient of its
value after this step. To first order, as published,

    grad_1 V_1 + eta (grad_2 V_1)' grad_1 grad_2 V_2

whose second term is the effect on the opponent's step. With `lookahead = "exact"` it is grad_1 V_1(theta_1,
theta_2 + eta grad_2 V_2), which LOLA-DiCE estimates (Foerster et al. 2018b). With eta = 0 both are the naive gradient.

The published code has the learning rates 1 and eta = .5 in the prisoner's dilemma, with a discount factor of .96, no
last round, and initial log-odds of standard deviation 1. Do not use it where the opponent does not learn, or learns at
an unknown rate.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from torch import Tensor

from stratagem.algorithms.shapellm.shapers.memory_one import MemoryOneGame, leaves, slope
from stratagem.algorithms.shapellm.shapers.seat import GradientSeat, MemoryOneSettings

Lookahead = Literal["first-order", "exact"]


class LOLASettings(MemoryOneSettings):
    """LOLA: follows the gradient of its value after a step of the opponent."""

    learner: Literal["lola"] = "lola"
    """Kind of learner."""
    opponent_learning_rate: float = Field(default=1.0, ge=0.0)
    """Learning rate of the opponent, as the shaper assumes it; 0 makes a naive learner."""
    lookahead: Lookahead = "first-order"
    """Dependence of the value on the opponent's step: `first-order` as published, or `exact`."""


class LOLASeat(GradientSeat[LOLASettings]):
    """Seat that learns by LOLA."""

    def gradient(self, own: Tensor, other: Tensor) -> Tensor:
        made = first_order if self.settings.lookahead == "first-order" else through_step
        return made(self.game, own, other, self.settings.opponent_learning_rate)


def first_order(game: MemoryOneGame, own: Tensor, other: Tensor, eta: float) -> Tensor:
    """Return LOLA's gradient to first order in the opponent's step."""
    own, other = leaves(own, other)
    mine, theirs = (value.sum() for value in game.values(own, other))
    weight = slope(mine, other, again=True).detach()
    shaping = slope((weight * slope(theirs, other, again=True)).sum(), own, again=True)
    return (slope(mine, own) + eta * shaping).detach()


def through_step(game: MemoryOneGame, own: Tensor, other: Tensor, eta: float) -> Tensor:
    """Return the gradient of the value after the opponent's step, through the step."""
    own, other = leaves(own, other)
    _, theirs = game.values(own, other)
    mine, _ = game.values(own, other + eta * slope(theirs.sum(), other, again=True))
    return slope(mine.sum(), own)
