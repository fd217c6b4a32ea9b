"""Metric of what a player owes to the plain words of a game."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stratagem.measure.common_deals import pay_on_common_deals
from stratagem.measure.figures.figure import OF_PAYOFFS
from stratagem.measure.matchups import Matchup
from stratagem.measure.metrics.base import Metric, Sample
from stratagem.measure.statistics import Array, Estimate, exactly


def mean_of_table(table: Array, *, exact_rows: bool = False) -> Estimate:
    """Estimate the mean of a table `[rows, columns]`, with a 95 % interval over rows and columns.

    The variance is that of the mean of the row means plus that of the mean of the column means. Each of the two holds
    the interaction, so the sum is a little too large, never too small (Owen 2007, "The pigeonhole bootstrap"). The
    interval is Student's, with the degrees of freedom of Satterthwaite (1946). A single column is a case of its own:
    the interval is over rows only. With `exact_rows` the rows are no sample, and the interval is over columns only.
    """
    rows, columns = table.shape
    parts = [] if exact_rows else [_variance(table.mean(axis=1))]
    parts += [_variance(table.mean(axis=0))] if columns > 1 else []
    size = columns if exact_rows else rows
    mean = float(table.mean())
    if not parts:
        return exactly(mean)
    if any(np.isnan(part) for part, _ in parts):
        return Estimate(mean, None, size)
    variance = sum(part for part, _ in parts)
    if variance == 0.0 and exact_rows:
        return exactly(mean)
    estimate = Estimate(mean, float(np.sqrt(variance)), size, mean, mean)
    if variance == 0.0:
        return estimate
    from scipy.special import stdtrit  # as in `statistics`: `scipy.stats` takes ten times as long to import

    freedom = variance**2 / sum(part**2 / degrees for part, degrees in parts)
    reach = float(stdtrit(freedom, 0.975)) * float(np.sqrt(variance))
    return replace(estimate, low=mean - reach, high=mean + reach)


def _variance(means: Array) -> tuple[float, int]:
    """Return the variance of the mean of independent values, and its degrees of freedom."""
    degrees = len(means) - 1
    return (float(means.var(ddof=1)) / len(means), degrees) if degrees else (float("nan"), 0)


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
            return mean_of_table(np.array([gaps]), exact_rows=True)
        deals = pay_on_common_deals([plain, *sample.disguised])
        if not deals:
            return None
        return mean_of_table(np.array([[base - other for other in others] for base, *others in deals]))

    def null(self, sample: Sample) -> float | None:
        return 0.0 if sample.disguised else None


def _mean_pay(matchups: tuple[Matchup, ...] | list[Matchup]) -> float:
    return float(np.mean([matchup.payoff().mean for matchup in matchups]))
