"""Metric of payoff a round against the pool `shifted`: opponents that no training pool holds."""

from __future__ import annotations

from stratagem.measure.figures.figure import OF_PAYOFFS
from stratagem.measure.matchups import mean_payoff
from stratagem.measure.metrics.base import Metric, Sample
from stratagem.measure.statistics import Estimate


class Robust(Metric):
    """Mean payoff a round against the distribution-shifted pool (SEPO, section 5)."""

    name = "shifted_payoff"
    better = "higher"
    unit = OF_PAYOFFS
    explanation = "mean payoff a round against a pool of opponents that training does not have"

    def measure(self, sample: Sample) -> Estimate | None:
        matchups = sample.pool("shifted")
        return mean_payoff(matchups, scaled=True) if matchups else None
