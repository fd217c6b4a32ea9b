"""Means over deals with intervals and limits that hold where payoffs are skewed, or are mostly equal.

Student's t takes the variance of n values for as well known as that of n normal ones. Payoffs of deals are seldom
normal: most messages change nothing, and a few change much. Then the variance is known worse, and the interval of 20 or
30 deals is too narrow (`experiments/deal_coverage.py` simulates it).

Student's t also misses the lower limit of a mean where rare large losses have not been seen yet. Where values cannot be
below a known floor, Gaffke's limit (2005) is the alpha quantile of `sum_i D_i x_i + D_0 floor` for weights D that are
uniform on the simplex (Dirichlet of ones). For two outcomes it is that of Clopper and Pearson. That it covers for every
distribution is a conjecture (Learned-Miller and Thomas 2019) without a known exception; `experiments/bound_coverage.py`
simulates it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stratagem.games.key import Key
from stratagem.measure.statistics import Estimate, differing_share, mean, students_quantile

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


Draws = NDArray[np.float64]
DRAWS = 19_999
"""Drawn weights: the least p is 1 / 20,000, and the level of a 95 % limit has a standard error of .0015."""
_AT_ONCE = 1_000_000
"""Weights that are drawn at once: 8 MB, whatever the number of deals."""
_NOTHING = 1e-9
"""A mean of zeros may differ from 0 by rounding."""


class LowerMean(NamedTuple):
    """One-sided lower limit of a mean, 95 % by default, and the p of the null hypothesis that it is at most 0."""

    lower: float
    p: float


def lower_mean(values: Sequence[float], floor: float, key: Key, draws: int = DRAWS) -> LowerMean:
    """Return Gaffke's lower limit, and the share of draws at or below 0 as `(found + 1) / (draws + 1)`."""
    return lower_limit(mean_draws(values, floor, key, draws))


def lower_limit(means: Draws, level: float = 0.05) -> LowerMean:
    """Return the quantile of drawn means at a level, and the share of draws at or below 0."""
    draws = len(means)
    lower = float(np.sort(means)[max(0, int(level * (draws + 1)) - 1)])
    return LowerMean(lower, (int((means <= _NOTHING).sum()) + 1) / (draws + 1))


def mean_draws(values: Sequence[float], floor: float, key: Key, draws: int = DRAWS) -> Draws:
    """Return means of the values and the floor under drawn weights: Gaffke's limits are their lower quantiles."""
    points = np.append(np.maximum(np.asarray(values, dtype=float), floor), floor)
    generator = np.random.default_rng(key.at("gaffke").value)
    size = max(1, _AT_ONCE // len(points))
    return np.concatenate([_draw_means(points, min(size, draws - done), generator) for done in range(0, draws, size)])


def _draw_means(points: Draws, draws: int, generator: np.random.Generator) -> Draws:
    """Return means of the points under drawn weights."""
    weights = generator.exponential(size=(draws, len(points)))
    result: Draws = (weights @ points) / weights.sum(axis=1)
    return result
