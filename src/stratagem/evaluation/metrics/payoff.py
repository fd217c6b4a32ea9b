"""Payoff a round against the opponents one trains with."""

from __future__ import annotations

from stratagem.evaluation.metrics.base import Metric, Sample
from stratagem.evaluation.statistics import Estimate, mean_of


class Payoff(Metric):
    """Mean payoff a round against the training pool, each opponent counting the same (SEPO, section 5)."""

    name = "pay"
    better = "higher"

    def measure(self, sample: Sample) -> Estimate | None:
        return mean_pay(sample, scaled=True)


def mean_pay(sample: Sample, *, scaled: bool) -> Estimate | None:
    """The metric, on the common scale or in the game's own unit."""
    pays = [bout.pay(scaled=scaled) for bout in sample.pool("train", "opponents")]
    return mean_of(pays) if pays else None
