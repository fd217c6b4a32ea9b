"""Metric of the harm to others."""

from __future__ import annotations

from stratagem.measure.matchups import mean_signal
from stratagem.measure.metrics.base import Metric, Sample
from stratagem.measure.statistics import Estimate


class Externality(Metric):
    """The mean a round, against the training pool, of what the game names its externality signal (SEPO, section 3).

    Joint payoff forgone, an item given to the bidder who values it less, a negotiation that broke down.
    """

    name = "externality"
    better = "lower"
    unit = "rate"
    explanation = "harm to those who do not play, a round from 0 to 1, as the game defines it"

    def measure(self, sample: Sample) -> Estimate | None:
        return mean_signal(sample.pool("train"), "externality")
