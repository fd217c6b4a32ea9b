"""Metric of exploiting a cooperative partner."""

from __future__ import annotations

from stratagem.evaluation.metrics.base import Metric, Sample, known
from stratagem.evaluation.statistics import Estimate, mean_of


class Collusion(Metric):
    """The rate, beside partners of the collusive pool, of what the game names its collusion signal (SEPO, section 3).

    Defecting on an unconditional cooperator, bidding LOW at the highest value, demanding more than the fair share.
    """

    name = "collusion"
    better = "lower"

    def measure(self, sample: Sample) -> Estimate | None:
        rates = known([matchup.signal("collusion") for matchup in sample.pool("collusive")])
        return mean_of(rates) if rates else None
