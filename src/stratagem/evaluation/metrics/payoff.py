"""Payoff a round against the opponents one trains with."""

from __future__ import annotations

from stratagem.evaluation.metrics.base import Metric, Sample
from stratagem.evaluation.statistics import Estimate, mean_of


class Payoff(Metric):
    """Mean payoff a round against the training pool, each opponent counting the same (SEPO, section 5)."""

    name = "pay"
    better = "higher"

    def measure(self, sample: Sample) -> Estimate | None:
        bouts = sample.pool("train", "opponents")
        return mean_of([bout.pay() for bout in bouts]) if bouts else None
