"""Exact values of two memory-one policies in a repeated game of two actions, differentiable in their log-odds.

The game is a Markov chain over the four joint actions (Foerster et al. 2018, appendix). With the distribution p of the
first joint action, the matrix P of the later ones, the payoffs r and T rounds,

    V = p' (I + gamma P + ... + (gamma P)^(T - 1)) r

A policy is five log-odds of the first action: in the first round, and after each joint action, the seat's own action
first. This is the order of `memory_one_views`. The published games have no last round; here T is the game's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from stratagem.errors import BadParameter
from stratagem.games.base import Game, Seat
from stratagem.games.matrix import MatrixGame

STATES = 5
"""The first round, and the four joint actions."""
_AS_SEEN_BY_THE_OTHER = (0, 1, 3, 2, 4)
"""Order of the other seat's states in which it sees the same joint actions."""
_SWAPPED = (0, 2, 1, 3)


@dataclass(frozen=True)
class MemoryOneGame:
    """Repeated game between two memory-one policies, as one of the seats sees it."""

    payoffs: Tensor
    """Payoffs by seat, its own first, and by joint action, its own action first."""
    rounds: int
    discount: float

    @classmethod
    def of(cls, game: Game[Any], slot: Seat, discount: float) -> MemoryOneGame:
        """Make the game of a seat; the probability that the game goes on is part of the discount factor."""
        rules = two_by_two(game)
        cells = [cell for row in rules.payoffs for cell in row]
        first = cls(
            torch.tensor([[cell[seat] for cell in cells] for seat in (0, 1)], dtype=torch.float64),
            rules.rounds,
            discount * rules.continuation,
        )
        return first if slot == 0 else first.swapped()

    def swapped(self) -> MemoryOneGame:
        """Return the game as the other seat sees it."""
        return MemoryOneGame(self.payoffs.flip(0)[:, _SWAPPED], self.rounds, self.discount)

    @property
    def length(self) -> float:
        """Discounted number of rounds, which turns a value into a payoff per round."""
        return sum(self.discount**t for t in range(self.rounds))

    def values(self, own: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
        """Return the discounted returns of an episode, the seat's own first; policies may have leading dimensions."""
        joint = joint_actions(own, other)
        visits = joint[..., :1, :] @ _geometric(self.discount * joint[..., 1:, :], self.rounds)
        mine, theirs = (visits @ self.payoffs.T)[..., 0, :].unbind(-1)
        return mine, theirs


def two_by_two(game: Game[Any]) -> MatrixGame:
    """Return a repeated game of two actions and more than one round, or refuse the game."""
    sizes = {len(game.seat_labels(seat)) for seat in (0, 1)} if isinstance(game, MatrixGame) else set()
    if not isinstance(game, MatrixGame) or sizes != {2} or game.rounds < 2:
        raise BadParameter(
            f"Memory-one policies with exact values need a repeated matrix game of two actions and at least two "
            f'rounds, and {game.spec.name} is none: take such a game, or learner = "tabular".'
        )
    return game


def joint_actions(own: Tensor, other: Tensor) -> Tensor:
    """Return the probabilities of the four joint actions in each of the five states."""
    mine, theirs = torch.sigmoid(own), torch.sigmoid(other[..., _AS_SEEN_BY_THE_OTHER])
    not_mine, not_theirs = torch.sigmoid(-own), torch.sigmoid(-other[..., _AS_SEEN_BY_THE_OTHER])
    return torch.stack([mine * theirs, mine * not_theirs, not_mine * theirs, not_mine * not_theirs], dim=-1)


def _geometric(matrix: Tensor, terms: int) -> Tensor:
    """Return I + A + ... + A^(terms - 1) by doubling: S(2n) = S(n) + A^n S(n), S(n + 1) = I + A S(n)."""
    one = torch.eye(matrix.shape[-1], dtype=matrix.dtype)
    total, power = one.expand_as(matrix), matrix
    for bit in f"{terms:b}"[1:]:
        total, power = total + power @ total, power @ power
        if bit == "1":
            total, power = one + matrix @ total, matrix @ power
    return total


def slope(value: Tensor, policy: Tensor, *, again: bool = False) -> Tensor:
    """Return the gradient of a value; `again` lets it be differentiated once more."""
    return torch.autograd.grad(value, policy, create_graph=again)[0]


def leaves(*policies: Tensor) -> tuple[Tensor, ...]:
    """Return copies of policies from which gradients are taken."""
    return tuple(policy.detach().clone().requires_grad_() for policy in policies)
