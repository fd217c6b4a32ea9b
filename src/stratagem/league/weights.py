"""Who is worth meeting, by how often one beats them: prioritised fictitious self-play's weights (Vinyals 2019)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from stratagem.errors import UnknownName

Floats = NDArray[np.float64]
Weighting = Callable[[Floats], Floats]
"""From the probability to win against each to a weight for each."""

WEIGHTINGS: Mapping[str, Weighting] = {
    "squared": lambda x: (1.0 - x) ** 2,
    "variance": lambda x: x * (1.0 - x),
    "linear": lambda x: 1.0 - x,
    "capped": lambda x: np.minimum(0.5, 1.0 - x),
    "uniform": np.ones_like,
}
"""squared: mostly those one loses to; variance: those of one's own strength; linear; capped: all that one does not beat
alike; uniform: everybody alike."""


def weighting(name: str) -> Weighting:
    """The weighting of that name."""
    if name not in WEIGHTINGS:
        raise UnknownName("weighting of opponents", name, WEIGHTINGS)
    return WEIGHTINGS[name]


def shares(rates: Floats, name: str) -> Floats:
    """Probabilities that sum to one; where nobody has any weight, everybody alike."""
    weights = weighting(name)(rates)
    total = weights.sum()
    return weights / total if total > 0.0 else np.full(len(rates), 1.0 / len(rates))


def effective_number(probabilities: Floats) -> float:
    """How many opponents these are worth: 1 over the sum of squares, which is n for n alike and 1 for one alone."""
    return float(1.0 / np.square(probabilities).sum())
