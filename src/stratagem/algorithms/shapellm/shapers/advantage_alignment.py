"""Advantage alignment (Duque et al. 2024), with exact advantages in place of sampled ones.

The policy gradient of player 1 has the advantage

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

from stratagem.algorithms.shapellm.shapers.memory_one import STATES, MemoryOneGame, joint_actions
from stratagem.algorithms.shapellm.shapers.seat import GradientSeat, MemoryOneSettings


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
            _entered(gamma * joint * (past[:, None] + reached[:, None] * mine)),
            _entered(joint * reached[:, None]),
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


def _entered(flow: Tensor) -> Tensor:
    """Return what flows into each state; none is a first round."""
    return torch.cat([torch.zeros(1, dtype=flow.dtype), flow.sum(0)])
