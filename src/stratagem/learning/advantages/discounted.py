"""An action is worth how the game ended after it, the less the later the end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stratagem.learning.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, State
from stratagem.learning.advantages.segments import cells, steps_left
from stratagem.learning.advantages.step_win_rate import PAIRS, judged, pairs_of
from stratagem.options import within


@dataclass(frozen=True, kw_only=True)
class Discounted(AdvantageEstimator):
    """The mean of `gamma^(T - t) R` over every time that the action was taken in the state; T - t own steps were left.

    Reference: SCO-PAL, section B.3, with R = 1, 1/2 and 0 for a win, a tie and a loss and the threshold of its
    other estimators.
    When not: so set, an action more than three steps before the end is never advantageous, whatever it led to
    (.8^4 < 1/2); `win=1, tie=0, loss=-1, threshold=0` has no such edge.
    """

    gamma: float = 0.8
    """What a step's delay leaves of the reward."""
    win: float = 1.0
    """What a win is worth."""
    tie: float = 0.5
    """What a tie is worth."""
    loss: float = 0.0
    """What a loss is worth."""
    threshold: float = 0.5
    """Above which an action is advantageous."""

    def __post_init__(self) -> None:
        within(self, "gamma", self.gamma, 0.0, 1.0)
        for option in ("win", "tie", "loss", "threshold"):
            within(self, option, getattr(self, option), -1e6, 1e6)

    @property
    def columns(self) -> frozenset[str]:
        return PAIRS

    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        pairs, outcome = pairs_of(decisions), decisions.figures("outcome")
        reward = np.interp(outcome, (0.0, 0.5, 1.0), (self.loss, self.tie, self.win))
        worth = self.gamma ** steps_left(cells(decisions.episode)) * reward
        return judged(pairs.total(worth) / pairs.sizes, pairs, self.threshold)
