"""Win rate after an action in a state."""

from __future__ import annotations

from dataclasses import dataclass

from stratagem.base.options import within
from stratagem.learn.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, Floats, State
from stratagem.learn.advantages.segments import Cells, cells

PAIRS = frozenset({"state", "action", "outcome"})
"""Columns that the win rate of an action in a state is counted from."""


@dataclass(frozen=True, kw_only=True)
class StepWinRate(AdvantageEstimator):
    """Win rate `(wins + ties / 2) / all` over every time that the action was taken in the state, less the threshold.

    Reference: SCO-PAL, sections 4.2 and B.3. `returns` have the rate itself.
    When not: a pair that was seen once is 0, 1/2 or 1; `beta` draws such towards 1/2. In self-play the rate is that
    against the players of the time, not the value of the action against a strong one.
    """

    threshold: float = 0.5
    """Value that is subtracted: an action above it is advantageous."""

    def __post_init__(self) -> None:
        within(None, "threshold", self.threshold, 0.0, 1.0)

    @property
    def columns(self) -> frozenset[str]:
        return PAIRS

    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        pairs = pairs_of(decisions)
        return pair_advantages(pairs.total(decisions.figures("outcome")) / pairs.sizes, pairs, self.threshold)


def pairs_of(decisions: Decisions) -> Cells:
    """Group the rows by state and action."""
    return cells(decisions.codes("state"), decisions.codes("action"))


def pair_advantages(values: Floats, pairs: Cells, threshold: float) -> AdvantageEstimate:
    """Return for each row the value of its state-action pair less the threshold."""
    returns = values[pairs.of]
    advantage = returns - threshold
    counts = {"pairs": len(values), "advantageous": int((advantage > 0).sum())}
    return AdvantageEstimate(advantage=advantage, returns=returns, counts=counts)
