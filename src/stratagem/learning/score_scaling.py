"""Running score scaling: division by the standard deviation of all scores so far."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from stratagem.learning.advantages.base import Floats

_EPSILON = float(np.finfo(np.float32).eps)
"""Constant that trl adds to the standard deviation."""


@dataclass
class ScoreScaling:
    """Running moments of all scores so far: count, mean and sum of squared deviations (Chan 1979).

    Reference: RunningMoments of trl 0.11, by which its PPOTrainer scales scores where it does not normalise them.
    What differs: while all scores have been alike they are left as they are, where trl divides by about nothing.
    """

    count: float = 0.0
    mean: float = 0.0
    squares: float = 0.0

    @property
    def std(self) -> float:
        """Unbiased standard deviation; 0 for fewer than two scores."""
        return math.sqrt(self.squares / (self.count - 1.0)) if self.count > 1.0 else 0.0

    @property
    def divisor(self) -> float:
        """Number by which scores are divided."""
        return self.std + _EPSILON if self.std else 1.0

    def update(self, scores: Floats) -> None:
        """Update the moments with these scores."""
        if len(scores):
            total, delta = self.count + len(scores), float(scores.mean()) - self.mean
            self.squares += float(scores.var()) * len(scores) + delta**2 * self.count * len(scores) / total
            self.mean += delta * len(scores) / total
            self.count = total

    def scaled(self, scores: Floats) -> Floats:
        """Update the moments with these scores, and return the scaled scores."""
        self.update(scores)
        return scores / self.divisor

    def state(self) -> dict[str, float]:
        """Return the moments for a checkpoint."""
        return asdict(self)

    def restore(self, state: Mapping[str, float]) -> None:
        """Continue from a state."""
        self.count, self.mean, self.squares = (state[name] for name in ("count", "mean", "squares"))
