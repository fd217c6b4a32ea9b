"""Weights of opponents by win rate: prioritised fictitious self-play (Vinyals 2019)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from stratagem.errors import UnknownName

Floats = NDArray[np.float64]
Weighting = Callable[[Floats], Floats]
"""Function from the win probability against each to a weight for each."""

WEIGHTINGS: Mapping[str, Weighting] = {
    "squared": lambda x: (1.0 - x) ** 2,
    "variance": lambda x: x * (1.0 - x),
    "linear": lambda x: 1.0 - x,
    "capped": lambda x: np.minimum(0.5, 1.0 - x),
    "uniform": np.ones_like,
}
"""Weightings by name.

squared: mostly stronger opponents; variance: opponents of equal strength; linear; capped: equal weights for all
opponents that are not beaten; uniform: equal weights for everybody.
"""


def weighting(name: str) -> Weighting:
    """Find the weighting of that name."""
    if name not in WEIGHTINGS:
        raise UnknownName("weighting of opponents", name, WEIGHTINGS)
    return WEIGHTINGS[name]


def shares(rates: Floats, name: str) -> Floats:
    """Normalise weights to probabilities; uniform where nobody has any weight."""
    weights = weighting(name)(rates)
    total = weights.sum()
    return weights / total if total > 0.0 else np.full(len(rates), 1.0 / len(rates))


def effective_number(probabilities: Floats) -> float:
    """Return the effective number of opponents.

    1 over the sum of squares, which is n for n alike and 1 for one alone.
    """
    return float(1.0 / np.square(probabilities).sum())
