"""Schedules over training: of the learning rate, by name, and of a coefficient.

A learning rate has a factor of its peak after the warmup, by the share of the steps. A coefficient goes from one value
to another over updates, over episodes or over trials.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, PlainSerializer, PlainValidator

from stratagem.base.errors import BadParameter
from stratagem.base.named import NamedObject, RegistryReader, in_a_recipe
from stratagem.base.options import within
from stratagem.base.registry import Registry
from stratagem.base.settings import Settings


class LearningRateSchedule(ABC):
    """Schedule of the learning rate: a pure function of the share of the steps after the warmup."""

    @abstractmethod
    def factor(self, progress: float) -> float:
        """Return the factor of the peak learning rate; `progress` is 0 after the warmup, and 1 after the last step."""


@dataclass(frozen=True)
class Constant(LearningRateSchedule):
    """Peak learning rate to the end."""

    def factor(self, progress: float) -> float:
        return 1.0


@dataclass(frozen=True)
class Linear(LearningRateSchedule):
    """Straight line to `end`: `1 - (1 - end) progress`."""

    end: float = 0.0
    """Factor after the last step."""

    def __post_init__(self) -> None:
        within(None, "end", self.end, 0.0, 1.0)

    def factor(self, progress: float) -> float:
        return 1.0 - (1.0 - self.end) * progress


@dataclass(frozen=True)
class Cosine(LearningRateSchedule):
    """Half a cosine wave to `end` (Loshchilov and Hutter 2017): `end + (1 - end) (1 + cos(pi progress)) / 2`."""

    end: float = 0.0
    """Factor after the last step."""

    def __post_init__(self) -> None:
        within(None, "end", self.end, 0.0, 1.0)

    def factor(self, progress: float) -> float:
        return self.end + (1.0 - self.end) * 0.5 * (1.0 + math.cos(math.pi * progress))


SCHEDULES: dict[str, Callable[..., LearningRateSchedule]] = {"constant": Constant, "linear": Linear, "cosine": Cosine}
"""Schedules by name."""

_registry: Registry[LearningRateSchedule] = Registry(
    "learning-rate schedule", SCHEDULES, "stratagem.schedules", LearningRateSchedule
)

read_schedule = RegistryReader(_registry, LearningRateSchedule)
"""Reader of a schedule in a recipe: a text or a table."""
NamedSchedule = Annotated[
    NamedObject[LearningRateSchedule], PlainValidator(in_a_recipe(read_schedule)), PlainSerializer(NamedObject.table)
]
"""Schedule of the learning rate as a setting."""


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
    curve: NamedSchedule = read_schedule("linear")
    """Shape of the schedule, by name as one of the learning rate: `linear` or `cosine`; its factor is the share of the
    way that is left, 1 at `start` and 0 at `end`."""

    def after(self, experience: Experience) -> float:
        """Return the value after an amount of training."""
        step = {"update": experience.updates, "episode": experience.episodes, "trial": experience.trials}[self.unit]
        if step is None:
            raise BadParameter(f'A schedule with `unit` = "{self.unit}" is for seats that play {self.unit}s.')
        return self.at(step)

    def at(self, step: int) -> float:
        """Return the value after a number of steps."""
        progress = min(1.0, max(0, step) / self.steps)
        return self.start + (self.end - self.start) * (1.0 - self.curve.value.factor(progress))
