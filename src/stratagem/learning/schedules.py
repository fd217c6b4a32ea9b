"""Schedule of a coefficient over training: over updates, over episodes or over trials."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from pydantic import Field

from stratagem.errors import BadParameter
from stratagem.settings import Settings

ScheduleUnit = Literal["update", "episode", "trial"]


class Experience(NamedTuple):
    """Amount of training before an update, in each unit; None where there is no such unit."""

    updates: int = 0
    episodes: int | None = None
    trials: int | None = None


START = Experience(updates=0, episodes=0, trials=0)


class Schedule(Settings):
    """Schedule from `start` to `end` over `steps`, and `end` afterwards; a pure function of the step.

    Seats with different intervals between updates have equal schedules per unit of experience by `unit`: a seat that
    updates five times a trial ends a ramp over 40 updates after 8 trials, and a ramp over 40 trials after 40.

    ShapeLLM lets the entropy bonus decay from .1 or .7 to 0 over 25 trials (Table 12) and does not print its curve.
    """

    start: float = Field(default=0.0, ge=0.0)
    """Value before the first step."""
    end: float = Field(default=0.0, ge=0.0)
    """Value after the last step."""
    steps: int = Field(default=1, ge=1)
    """Number of steps from `start` to `end`, in the unit."""
    unit: ScheduleUnit = "update"
    """Unit of the steps: updates of the seat, or episodes or trials before the update."""
    curve: Literal["linear", "cosine"] = "linear"
    """Shape of the schedule: a straight line, or half a cosine wave."""

    def after(self, experience: Experience) -> float:
        """Return the value after an amount of training."""
        step = {"update": experience.updates, "episode": experience.episodes, "trial": experience.trials}[self.unit]
        if step is None:
            raise BadParameter(f'A schedule with `unit` = "{self.unit}" is for seats that play {self.unit}s.')
        return self.at(step)

    def at(self, step: int) -> float:
        """Return the value after a number of steps."""
        progress = min(1.0, max(0, step) / self.steps)
        if self.curve == "cosine":
            progress = 0.5 * (1.0 - math.cos(math.pi * progress))
        return self.start + (self.end - self.start) * progress
