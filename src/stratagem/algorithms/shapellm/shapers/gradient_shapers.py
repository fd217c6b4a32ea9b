"""Shapers that follow a gradient of exact values: LOLA, SOS and advantage alignment.

LOLA, learning with opponent-learning awareness (Foerster et al. 2018a). The opponent is assumed to take one naive step,
d theta_2 = eta grad_2 V_2. The learner follows the gradient of its value after this step. To first order, as published,

    grad_1 V_1 + eta (grad_2 V_1)' grad_1 grad_2 V_2

whose second term is the effect on the opponent's step. With `lookahead = "exact"` it is grad_1 V_1(theta_1,
theta_2 + eta grad_2 V_2), which LOLA-DiCE estimates (Foerster et al. 2018b). With eta = 0 both are the naive gradient.
The published code has the learning rates 1 and eta = .5 in the prisoner's dilemma, with a discount factor of .96, no
last round, and initial log-odds of standard deviation 1. Do not use it where the opponent does not learn, or learns at
an unknown rate.

SOS, stable opponent shaping (Letcher et al. 2019). LOLA may leave a fixed point that is an equilibrium. SOS scales the
shaping term. With a the learning rate that players assume of each other, the look-ahead direction u and the shaping
term s of player i,

    u_i = grad_i V_i + a grad_i [(grad_j V_i)' sg(grad_j V_j)],    s_i = grad_i [sg(grad_j V_i)' grad_j V_j]

it follows u_i + p a s_i (sg stops the gradient). Over all players together, p is the smaller of

    p_1 = 1 if <a s, u> >= 0, else min(1, -.5 |u|^2 / <a s, u>)
    p_2 = |xi|^2 if |xi| < .1, else 1,    xi = the naive gradients

with the constants of the authors' code. The other player is assumed to use SOS, too.

Advantage alignment (Duque et al. 2024), with exact advantages in place of sampled ones. The policy gradient of player 1
has the advantage

    A*_t = A1_t + beta gamma (sum over k < t of gamma^(t - k) A1_k) A2_t

of its joint actions, so an action that is good for the opponent becomes more likely after rounds that were good for the
learner. With beta = 0 it is the naive gradient. The expectation over all episodes is exact: with the distribution p of
the state in round t and the expectation C of the bracket in each state,

    C_(t + 1)(s') = gamma sum over s of (C_t(s) + p_t(s) A1_t(s, s')) P(s, s')

The paper samples episodes, estimates advantages, and clips the ratio as PPO does. It needs no derivative of the
opponent's learning rule, and no second derivatives.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from stratagem.algorithms.shapellm.shapers.memory_one import (
    STATES,
    GradientSeat,
    MemoryOneGame,
    MemoryOneSettings,
    joint_actions,
    leaves,
    slope,
)

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
    their_naive, their_ahead, their_shaping = _terms(game.swap_seats(), other, own, rate)
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


class AdvantageAlignmentSettings(MemoryOneSettings):
    """Advantage alignment: actions that are good for the opponent, after rounds that were good for the learner."""

    learner: Literal["advantage-alignment"] = "advantage-alignment"
    """Kind of learner."""
    alignment_weight: float = Field(default=1.0, ge=0.0)
    """Weight beta of the aligned advantages; 0 makes a naive learner."""


class AdvantageAlignmentSeat(GradientSeat[AdvantageAlignmentSettings]):
    """Seat that learns by advantage alignment."""

    def gradient(self, own: Tensor, other: Tensor) -> Tensor:
        return aligned_gradient(self.game, own, other, self.settings.alignment_weight)


def aligned_gradient(game: MemoryOneGame, own: Tensor, other: Tensor, beta: float) -> Tensor:
    """Return the expected policy gradient with aligned advantages."""
    joint, gamma = joint_actions(own, other), game.discount
    reached, past = torch.eye(STATES, dtype=own.dtype)[0], torch.zeros(STATES, dtype=own.dtype)
    gradient = torch.zeros_like(own)
    for number, (mine, theirs) in enumerate(_advantages(game, joint)):
        weight = joint * (reached[:, None] * mine + beta * gamma * past[:, None] * theirs)
        gradient += gamma**number * _score(weight, own)
        past, reached = (
            _inflow(gamma * joint * (past[:, None] + reached[:, None] * mine)),
            _inflow(joint * reached[:, None]),
        )
    return gradient


def _advantages(game: MemoryOneGame, joint: Tensor) -> Iterator[Tensor]:
    """Yield both players' advantages A(s, a, b) = r + gamma V(s') - V(s) of each round."""
    values = [torch.zeros(2, STATES, dtype=joint.dtype)]
    for _ in range(game.rounds):
        later = game.payoffs + game.discount * values[-1][:, 1:]
        values.append(later @ joint.T)
    for now, after in zip(values[:0:-1], values[-2::-1], strict=True):
        yield (game.payoffs + game.discount * after[:, 1:])[:, None, :] - now[:, :, None]


def _score(weight: Tensor, own: Tensor) -> Tensor:
    """Return the sum of weights times the score 1[first action] - pi of the learner's log-odds."""
    first, second = weight[:, :2].sum(1), weight[:, 2:].sum(1)
    return first * torch.sigmoid(-own) - second * torch.sigmoid(own)


def _inflow(flow: Tensor) -> Tensor:
    """Return what flows into each state; none is a first round."""
    return torch.cat([torch.zeros(1, dtype=flow.dtype), flow.sum(0)])
