"""Lower limit of the mean of few observations that cannot be below a known floor, however skewed they are.

Student's t misses it where rare large losses have not been seen yet. Gaffke's limit (2005) is the alpha quantile of
`sum_i D_i x_i + D_0 floor` for weights D that are uniform on the simplex (Dirichlet of ones). For two outcomes it is
that of Clopper and Pearson. That it covers for every distribution is a conjecture (Learned-Miller and Thomas 2019)
without a known exception; `experiments/bound_coverage.py` simulates it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stratagem.games.key import Key

Draws = NDArray[np.float64]
DRAWS = 19_999
_AT_ONCE = 1_000_000
_ROUNDING = 1e-9


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
    return LowerMean(lower, (int((means <= _ROUNDING).sum()) + 1) / (draws + 1))


def mean_draws(values: Sequence[float], floor: float, key: Key, draws: int = DRAWS) -> Draws:
    """Return means of the values and the floor under drawn weights: Gaffke's limits are their lower quantiles."""
    points = np.append(np.maximum(np.asarray(values, dtype=float), floor), floor)
    generator = np.random.default_rng(key.at("gaffke").value)
    size = max(1, _AT_ONCE // len(points))
    return np.concatenate([_drawn(points, min(size, draws - done), generator) for done in range(0, draws, size)])


def _drawn(points: Draws, draws: int, generator: np.random.Generator) -> Draws:
    """Return means of the points under drawn weights."""
    weights = generator.exponential(size=(draws, len(points)))
    result: Draws = (weights @ points) / weights.sum(axis=1)
    return result
