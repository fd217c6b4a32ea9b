"""Discounted outcome of the game after an action in a state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stratagem.base.options import within
from stratagem.learn.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, State
from stratagem.learn.advantages.segments import cells, remaining_steps
from stratagem.learn.advantages.step_win_rate import PAIRS, pair_advantages, pairs_of


@dataclass(frozen=True, kw_only=True)
class Discounted(AdvantageEstimator):
    """Mean of `gamma^(T - t) R` over every time that the action was taken in the state; T - t own steps were left.

    Reference: SCO-PAL, section B.3, with R = 1, 1/2 and 0 for a win, a tie and a loss and the threshold of its
    other estimators.
    When not: so set, an action more than three steps before the end is never advantageous, whatever it led to
    (.8^4 < 1/2); `win_reward=1, tie_reward=0, loss_reward=-1, threshold=0` has no such edge.
    """

    discount: float = 0.8
    """Discount factor gamma."""
    win_reward: float = 1.0
    """Reward R of a win."""
    tie_reward: float = 0.5
    """Reward R of a tie."""
    loss_reward: float = 0.0
    """Reward R of a loss."""
    threshold: float = 0.5
    """Value that is subtracted: an action above it is advantageous."""

    def __post_init__(self) -> None:
        within(None, "discount", self.discount, 0.0, 1.0)
        for option in ("win_reward", "tie_reward", "loss_reward", "threshold"):
            within(None, option, getattr(self, option), -1e6, 1e6)

    @property
    def columns(self) -> frozenset[str]:
        return PAIRS

    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        pairs, outcome = pairs_of(decisions), decisions.figures("outcome")
        reward = np.interp(outcome, (0.0, 0.5, 1.0), (self.loss_reward, self.tie_reward, self.win_reward))
        value = self.discount ** remaining_steps(cells(decisions.episode)) * reward
        return pair_advantages(pairs.total(value) / pairs.sizes, pairs, self.threshold)
