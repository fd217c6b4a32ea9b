"""Schedule of a coefficient over training steps."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field

from stratagem.settings import Settings


class Schedule(Settings):
    """Schedule from `start` to `end` over `steps`, and `end` afterwards; a pure function of the step.

    ShapeLLM lets the entropy bonus decay from .1 or .7 to 0 over 25 trials (Table 12) and does not print its curve.
    """

    start: float = Field(default=0.0, ge=0.0)
    """Value before the first step."""
    end: float = Field(default=0.0, ge=0.0)
    """Value after the last step."""
    steps: int = Field(default=1, ge=1)
    """Number of steps from `start` to `end`."""
    curve: Literal["linear", "cosine"] = "linear"
    """Shape of the schedule: a straight line, or half a cosine wave."""

    def at(self, step: int) -> float:
        """Return the value after a number of steps."""
        progress = min(1.0, max(0, step) / self.steps)
        if self.curve == "cosine":
            progress = 0.5 * (1.0 - math.cos(math.pi * progress))
        return self.start + (self.end - self.start) * progress
