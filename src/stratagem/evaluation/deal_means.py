"""Means over deals with intervals that hold where payoffs are skewed, or are mostly equal.

Student's t takes the variance of n values for as well known as that of n normal ones. Payoffs of deals are seldom
normal: most messages change nothing, and a few change much. Then the variance is known worse, and the interval of 20 or
30 deals is too narrow (`experiments/deal_coverage.py` simulates it).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from stratagem.evaluation.statistics import Estimate, differing_share, mean, students_quantile

FEW = 10
"""Number of deals below which intervals are marked: the rare payoffs may not have been seen yet.

A limit by the bounds of payoffs would hold, but with 5 to 9 deals it is four to seven times as wide where the bounds
are far apart, so it would say nothing.
"""
_ROUNDING = 1e-9
"""Share of the range up to which a standard error is rounding: equal values, summed and divided, differ by it."""


def mean_of_deals(values: Sequence[float], least: float, most: float) -> Estimate:
    """Estimate the mean of independent values between two bounds, with a 95 % interval.

    Equal values have no spread. Of n of them, a share of at most `1 - .025^(1/n)` of all others may differ (Clopper
    and Pearson 1934), by as much as the bounds allow. Others have Student's interval, with the degrees of freedom that
    give a sum of squares the variance which it has at the kurtosis of the values (Box 1953):
    `2 / (2 / (n - 1) + excess / n)`, and n - 1 at most.
    """
    estimate = mean(values)
    if estimate.se is None:
        return estimate
    if math.isfinite(most - least) and estimate.se <= _ROUNDING * (most - least):
        value, share = estimate.mean, differing_share(estimate.n)
        return replace(estimate, low=value - share * (value - least), high=value + share * (most - value))
    reach = students_quantile(_degrees_of_freedom(values)) * estimate.se
    return replace(estimate, low=estimate.mean - reach, high=estimate.mean + reach)


def _degrees_of_freedom(values: Sequence[float]) -> float:
    """Return the degrees of freedom of the variance of values that may have heavy tails."""
    n, deviations = len(values), np.subtract(values, math.fsum(values) / len(values))
    variance = float((deviations**2).mean())
    if variance == 0.0:
        return n - 1.0
    excess = float((deviations**4).mean()) / variance**2 - 3.0
    return 2.0 / (2.0 / (n - 1.0) + max(0.0, excess) / n)
