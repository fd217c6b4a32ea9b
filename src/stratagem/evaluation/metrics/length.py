"""Metric of the length of games."""

from __future__ import annotations

from stratagem.evaluation.metrics.base import Metric, Sample
from stratagem.evaluation.statistics import Estimate, mean_of


class Length(Metric):
    """Turns of the agent in an episode, the mean over opponents."""

    name = "length"
    better = "neither"
    digits = 2
    unit = "turns an episode"

    def measure(self, sample: Sample) -> Estimate | None:
        lengths = [matchup.mean(lambda e: float(e.num_decisions[e.seat_of(0)])) for matchup in sample.matchups]
        return mean_of(lengths) if lengths else None
