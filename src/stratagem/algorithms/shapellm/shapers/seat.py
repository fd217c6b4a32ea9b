"""Seat with a memory-one policy that learns by exact values; each kind of shaper defines its step.

The seat knows the opponent's policy as it was when the episodes were played, so all seats step at the same time. What
the opponent will do is the shaper's own assumption. The naive learner follows the gradient of its own value, and takes
the opponent as fixed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

import torch
from pydantic import Field
from torch import Tensor

from stratagem.algorithms.shapellm.metrics import memory_one_views
from stratagem.algorithms.shapellm.seat import Seat, UpdateData
from stratagem.algorithms.shapellm.seat_settings import Share
from stratagem.algorithms.shapellm.shapers.memory_one import MemoryOneGame, leaves, slope
from stratagem.algorithms.shapellm.tabular_seat import TabularLearner
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.prompting.catalogue import make_style
from stratagem.settings import FiniteSettings
from stratagem.training.stage import Metrics

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
