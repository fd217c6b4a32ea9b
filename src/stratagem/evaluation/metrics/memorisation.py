"""Metric of what a player owes to the plain words of a game."""

from __future__ import annotations

import numpy as np

from stratagem.evaluation.common_deals import pay_on_common_deals
from stratagem.evaluation.crossed import crossed
from stratagem.evaluation.matchups import Matchup
from stratagem.evaluation.metrics.base import OF_PAYOFFS, Metric, Sample
from stratagem.evaluation.statistics import Estimate


class MemorisationGap(Metric):
    """Payoff in plain words less payoff under disguises, on the same deals, each opponent counting the same.

    Its interval is over deals and disguises. It needs disguises.
    """

    name = "memorisation_gap"
    better = "lower"
    unit = OF_PAYOFFS
    main = True
    null_case = "0, the gap of a player that plays by the rules alone"

    def measure(self, sample: Sample) -> Estimate | None:
        plain = sample.pool("train", "opponents")
        if not plain or not sample.disguised:
            return None
        if all(matchup.expectations for matchups in (plain, *sample.disguised) for matchup in matchups):
            gaps = [_mean_pay(plain) - _mean_pay(matchups) for matchups in sample.disguised]
            return crossed(np.array([gaps]), exact_rows=True)
        deals = pay_on_common_deals([plain, *sample.disguised])
        if not deals:
            return None
        return crossed(np.array([[base - other for other in others] for base, *others in deals]))

    def null(self, sample: Sample) -> float | None:
        return 0.0 if sample.disguised else None


def _mean_pay(matchups: tuple[Matchup, ...] | list[Matchup]) -> float:
    return float(np.mean([matchup.payoff().mean for matchup in matchups]))
