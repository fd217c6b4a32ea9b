"""Exact values of two memory-one policies in a repeated game of two actions, and the seat that learns by them.

The game is a Markov chain over the four joint actions (Foerster et al. 2018a, appendix). With the distribution p of the
first joint action, the matrix P of the later ones, the payoffs r and T rounds,

    V = p' (I + gamma P + ... + (gamma P)^(T - 1)) r

which is differentiable in the log-odds. A policy is five log-odds of the first action: in the first round, and after
each joint action, the seat's own action first. This is the order of `memory_one_views`. The published games have no
last round; here T is the game's.

The seat knows the opponent's policy as it was when the episodes were played, so all seats step at the same time. What
the opponent will do is the shaper's own assumption. The naive learner follows the gradient of its own value, and takes
the opponent as fixed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

import torch
from pydantic import Field
from torch import Tensor

from stratagem.algorithms.shapellm.seat import Seat, Share, UpdateData
from stratagem.algorithms.shapellm.tabular_seat import TabularLearner
from stratagem.base.errors import BadParameter
from stratagem.base.settings import FiniteSettings
from stratagem.games.base import Game, View
from stratagem.games.key import Key
from stratagem.games.matrix import MatrixGame
from stratagem.language.prompting.catalogue import make_style
from stratagem.training.stage import Metrics

START = "start"
"""Name of the first round, as a state."""
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
    def of(cls, game: Game[Any], slot: int, discount: float) -> MemoryOneGame:
        """Make the game of a seat; the probability that the game goes on is part of the discount factor."""
        rules = two_by_two(game)
        cells = [cell for row in rules.payoffs for cell in row]
        first = cls(
            torch.tensor([[cell[seat] for cell in cells] for seat in (0, 1)], dtype=torch.float64),
            rules.rounds,
            discount * rules.continuation,
        )
        return first if slot == 0 else first.swap_seats()

    def swap_seats(self) -> MemoryOneGame:
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


def memory_one_views(game: Game[Any], slot: int) -> dict[str, View[Any]]:
    """Return a seat's views at the start and after each joint action, its own action first, in matrix games."""
    if not isinstance(game, MatrixGame):
        return {}
    views = {START: game.start(Key(0)).view(slot)}
    for mine, theirs in product(game.seat_labels(slot), game.seat_labels(1 - slot)):
        state = game.start(Key(0))
        state.play({slot: mine, 1 - slot: theirs})
        if state.to_act:
            views[f"{mine}-{theirs}"] = state.view(slot)
    return views


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


MEMORY, STYLE = "last", "shapellm-state"
"""Memory and prompt style under which a table is a memory-one policy."""


class MemoryOneSettings(FiniteSettings):
    """Memory-one policy of five log-odds, which learns by exact values."""

    update_every: int = Field(default=1, ge=1)
    """Interval between two updates; a number of episodes."""
    learning_rate: float = Field(default=1.0, gt=0.0)
    """Learning rate; the step size of a log-odds along the gradient of the return of an episode."""
    initial_probability: Share | tuple[Share, Share, Share, Share, Share] = 0.5
    """Initial probability of the first action, in every row; five numbers are for the first round and after each joint
    action."""
    initial_std: float = Field(default=0.0, ge=0.0)
    """Standard deviation of the noise on the initial logit of the first action; drawn from the seed for each row. LOLA
    and M-FOS have 1."""
    discount: float = Field(default=1.0, gt=0.0, le=1.0)
    """Discount factor gamma. LOLA and M-FOS have .96 and no last round."""


class ExactSettings(MemoryOneSettings):
    """Naive learner by the exact gradient of its value; no sampling, no model."""

    learner: Literal["exact"] = "exact"
    """Kind of learner."""


S = TypeVar("S", bound=MemoryOneSettings)


class MemoryOneSeat(Seat, Generic[S]):
    """Seat of a memory-one policy; a subclass defines `step`."""

    needs_policies: ClassVar[bool] = True

    def __init__(self, name: str, settings: S, game: Game[Any], slot: int, key: Key) -> None:
        """`key` draws the initial policy."""
        self.settings = settings
        self.game = MemoryOneGame.of(game, slot, settings.discount)
        style, first, std = make_style(STYLE), settings.initial_probability, settings.initial_std
        self.table = TabularLearner(style, first, name, std=std, key=key)
        self._rows = [self.table.row(view) for view in memory_one_views(game, slot).values()]
        super().__init__(self.table, MEMORY, settings.update_every)

    def step(self, own: Tensor, other: Tensor) -> Tensor:
        """Return the policy after the update, from the policies that have just been played."""
        raise NotImplementedError

    def update(self, data: UpdateData) -> Metrics:
        own, other = (torch.tensor(data.log_odds[slot], dtype=torch.float64) for slot in (data.slot, 1 - data.slot))
        value, _ = self.game.values(own, other)
        self._take(self.step(own, other).tolist())
        return {"score": value.item() / self.game.length}

    def _take(self, log_odds: list[float]) -> None:
        for row, value in zip(self._rows, log_odds, strict=True):
            first, second = row
            row[first], row[second] = value, 0.0

    def state(self) -> dict[str, Any]:
        return {"rows": [list(row.values()) for row in self._rows]}

    def restore(self, state: Mapping[str, Any], folder: Path) -> None:
        self._take([first - second for first, second in state["rows"]])


class GradientSeat(MemoryOneSeat[S]):
    """Seat that follows a gradient; a subclass defines it."""

    def gradient(self, own: Tensor, other: Tensor) -> Tensor:
        """Return the direction of the update."""
        raise NotImplementedError

    def step(self, own: Tensor, other: Tensor) -> Tensor:
        return own + self.settings.learning_rate * self.gradient(own, other)


class ExactSeat(GradientSeat[ExactSettings]):
    """Naive learner by the exact gradient."""

    def gradient(self, own: Tensor, other: Tensor) -> Tensor:
        return naive_gradient(self.game, own, other)


def naive_gradient(game: MemoryOneGame, own: Tensor, other: Tensor) -> Tensor:
    """Return the gradient of a seat's own value, the opponent being fixed."""
    own, other = leaves(own, other)
    value, _ = game.values(own, other)
    return slope(value.sum(), own)
