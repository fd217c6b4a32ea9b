"""Win rate after an action in a state, shrunk by a Beta prior."""

from __future__ import annotations

from dataclasses import dataclass

from stratagem.base.options import within
from stratagem.learn.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, State
from stratagem.learn.advantages.step_win_rate import PAIRS, pair_advantages, pairs_of


@dataclass(frozen=True, kw_only=True)
class Beta(AdvantageEstimator):
    """Posterior mean `(a + wins) / (a + b + all)` of the win rate after an action in a state, under Beta(a, b).

    Reference: SCO-PAL, section B.3.
    What differs: the paper counts no ties; here a tie is half a win and half a loss.
    When not: the sign of the advantage at the threshold of 1/2 is that of `step_win_rate`, so where only the sign is
    used (cloning, KTO) the two are the same; it matters with another threshold or where the advantage itself is used.
    """

    prior_wins: float = 1.0
    """Prior wins a."""
    prior_losses: float = 1.0
    """Prior losses b."""
    threshold: float = 0.5
    """Value that is subtracted: an action above it is advantageous."""

    def __post_init__(self) -> None:
        for option in ("prior_wins", "prior_losses"):
            within(None, option, getattr(self, option), 0.0)
        within(None, "threshold", self.threshold, 0.0, 1.0)

    @property
    def columns(self) -> frozenset[str]:
        return PAIRS

    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        pairs = pairs_of(decisions)
        seen = pairs.sizes + self.prior_wins + self.prior_losses
        return pair_advantages(
            (pairs.total(decisions.figures("outcome")) + self.prior_wins) / seen, pairs, self.threshold
        )
