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

from stratagem.games.key import Key

DRAWS = 19_999
_AT_ONCE = 1_000_000
_ROUNDING = 1e-9


class LowerMean(NamedTuple):
    """One-sided 95 % lower limit of a mean, and the p of the null hypothesis that it is at most 0."""

    lower: float
    p: float


def lower_mean(values: Sequence[float], floor: float, key: Key, draws: int = DRAWS) -> LowerMean:
    """Return Gaffke's lower limit, and the share of draws at or below 0 as `(found + 1) / (draws + 1)`."""
    points = np.append(np.maximum(np.asarray(values, dtype=float), floor), floor)
    generator = np.random.default_rng(key.at("gaffke").value)
    size = max(1, _AT_ONCE // len(points))
    means = np.concatenate([_drawn(points, min(size, draws - done), generator) for done in range(0, draws, size)])
    lower = float(np.sort(means)[max(0, int(0.05 * (draws + 1)) - 1)])
    return LowerMean(lower, (int((means <= _ROUNDING).sum()) + 1) / (draws + 1))


def _drawn(points: np.ndarray, draws: int, generator: np.random.Generator) -> np.ndarray:
    """Return means of the points under drawn weights."""
    weights = generator.exponential(size=(draws, len(points)))
    result: np.ndarray = (weights @ points) / weights.sum(axis=1)
    return result
