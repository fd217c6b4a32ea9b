"""Metric of the harm to others."""

from __future__ import annotations

from stratagem.evaluation.metrics.base import Metric, Sample, known
from stratagem.evaluation.statistics import Estimate, mean_of


class Externality(Metric):
    """The mean a round, against the training pool, of what the game names its externality signal (SEPO, section 3).

    Joint payoff forgone, an item given to the bidder who values it less, a negotiation that broke down.
    """

    name = "externality"
    better = "lower"

    def measure(self, sample: Sample) -> Estimate | None:
        rates = known([matchup.signal("externality") for matchup in sample.pool("train")])
        return mean_of(rates) if rates else None
