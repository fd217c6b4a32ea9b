"""A number that goes from one value to another as training goes on."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field

from stratagem.settings import Settings


class Schedule(Settings):
    """From `start` to `end` over `steps`, and `end` from there on; a function of the step, so nothing is to be kept.

    ShapeLLM lets the entropy bonus decay from .1 or .7 to 0 over 25 trials (Table 12) and does not print its curve.
    """

    start: float = Field(default=0.0, ge=0.0)
    """Before the first step."""
    end: float = Field(default=0.0, ge=0.0)
    """From the last step on."""
    steps: int = Field(default=1, ge=1)
    """How many steps it takes."""
    curve: Literal["linear", "cosine"] = "linear"
    """Evenly, or slowly at either end."""

    def at(self, step: int) -> float:
        """The value after so many steps."""
        progress = min(1.0, max(0, step) / self.steps)
        if self.curve == "cosine":
            progress = 0.5 * (1.0 - math.cos(math.pi * progress))
        return self.start + (self.end - self.start) * progress
