"""Scores of one size from the first batch to the last: each divided by the spread of all scores so far."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from stratagem.learning.advantages.base import Floats

_EPSILON = float(np.finfo(np.float32).eps)
"""What trl adds to the spread."""


@dataclass
class ScoreScaling:
    """The count, the mean and the summed squares around it of all scores so far (Chan 1979).

    Reference: RunningMoments of trl 0.11, by which its PPOTrainer scales scores where it does not normalise them.
    What differs: while all scores have been alike they are left as they are, where trl divides by about nothing.
    """

    count: float = 0.0
    mean: float = 0.0
    squares: float = 0.0

    @property
    def std(self) -> float:
        """The unbiased spread; 0 where there is none."""
        return math.sqrt(self.squares / (self.count - 1.0)) if self.count > 1.0 else 0.0

    def scaled(self, scores: Floats) -> Floats:
        """Take note of these scores, and scale them."""
        if len(scores):
            total, far = self.count + len(scores), float(scores.mean()) - self.mean
            self.squares += float(scores.var()) * len(scores) + far**2 * self.count * len(scores) / total
            self.mean += far * len(scores) / total
            self.count = total
        return scores / (self.std + _EPSILON if self.std else 1.0)

    def state(self) -> dict[str, float]:
        """All that later scores are scaled by."""
        return asdict(self)

    def restore(self, state: Mapping[str, float]) -> None:
        """Go on from a state."""
        self.count, self.mean, self.squares = (state[name] for name in ("count", "mean", "squares"))
