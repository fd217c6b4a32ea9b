"""Metric of exploiting a cooperative partner."""

from __future__ import annotations

from stratagem.measure.matchups import mean_signal
from stratagem.measure.metrics.base import Metric, Sample
from stratagem.measure.statistics import Estimate


class CollusionRate(Metric):
    """The rate, beside partners of the collusive pool, of what the game names its collusion signal (SEPO, section 3).

    Defecting on an unconditional cooperator, bidding LOW at the highest value, demanding more than the fair share.
    """

    name = "collusion"
    better = "lower"
    unit = "rate"
    explanation = "rate of collusion beside partners who invite to it, as the game defines it"

    def measure(self, sample: Sample) -> Estimate | None:
        return mean_signal(sample.pool("collusive"), "collusion")
