"""SOS: stable opponent shaping (Letcher et al. 2019), with exact values.

LOLA may leave a fixed point that is an equilibrium. SOS scales the shaping term. With a the learning rate that players
assume of each other, the look-ahead direction u and the shaping term s of player i,

    u_i = grad_i V_i + a grad_i [(grad_j V_i)' sg(grad_j V_j)],    s_i = grad_i [sg(grad_j V_i)' grad_j V_j]

it follows u_i + p a s_i (sg stops the gradient). Over all players together, p is the smaller of

    p_1 = 1 if <a s, u> >= 0, else min(1, -.5 |u|^2 / <a s, u>)
    p_2 = |xi|^2 if |xi| < .1, else 1,    xi = the naive gradients

with the constants of the authors' code. The other player is assumed to use SOS, too.
"""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from stratagem.algorithms.shapellm.shapers.memory_one import MemoryOneGame, leaves, slope
from stratagem.algorithms.shapellm.shapers.seat import GradientSeat, MemoryOneSettings

_ALIGNED, _NEAR = 0.5, 0.1
"""Constants a and b of SOS."""


class SOSSettings(MemoryOneSettings):
    """Stable opponent shaping: LOLA with a shaping term that vanishes near equilibria."""

    learner: Literal["sos"] = "sos"
    """Kind of learner."""
    opponent_learning_rate: float = Field(default=1.0, ge=0.0)
    """Learning rate of the opponent, as the shaper assumes it; 0 makes a naive learner."""


class SOSSeat(GradientSeat[SOSSettings]):
    """Seat that learns by SOS."""

    def gradient(self, own: Tensor, other: Tensor) -> Tensor:
        return stable(self.game, own, other, self.settings.opponent_learning_rate)


def stable(game: MemoryOneGame, own: Tensor, other: Tensor, rate: float) -> Tensor:
    """Return the direction of SOS."""
    naive, ahead, shaping = _terms(game, own, other, rate)
    their_naive, their_ahead, their_shaping = _terms(game.swapped(), other, own, rate)
    scale = _scale(
        torch.cat([naive, their_naive]), torch.cat([ahead, their_ahead]), rate * torch.cat([shaping, their_shaping])
    )
    return ahead + scale * rate * shaping


def _terms(game: MemoryOneGame, own: Tensor, other: Tensor, rate: float) -> tuple[Tensor, Tensor, Tensor]:
    """Return a player's naive gradient, its look-ahead direction and its shaping term."""
    own, other = leaves(own, other)
    mine, theirs = game.values(own, other)
    naive, cross, their_step = (
        slope(value, policy, again=True) for value, policy in ((mine, own), (mine, other), (theirs, other))
    )
    ahead = slope(cross @ their_step.detach(), own, again=True)
    shaping = slope(cross.detach() @ their_step, own)
    return naive.detach(), (naive + rate * ahead).detach(), shaping


def _scale(naive: Tensor, ahead: Tensor, shaping: Tensor) -> float:
    """Return the factor p of the shaping term."""
    along, size = float(shaping @ ahead), float(naive.norm())
    aligned = 1.0 if along >= 0.0 else min(1.0, -_ALIGNED * float(ahead @ ahead) / along)
    return min(aligned, size**2 if size < _NEAR else 1.0)
