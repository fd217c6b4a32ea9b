"""One stage of refinement: a method's lesson, epoch after epoch, against the policy as it was when the stage began."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice

import numpy as np

from stratagem.algorithms.scopal.methods import METHODS, Batch, Lesson
from stratagem.algorithms.scopal.samples import Samples
from stratagem.algorithms.scopal.settings import StageSettings
from stratagem.games.key import Key
from stratagem.learning.advantages.base import Floats, Ints


class Refinement:
    """The batches of a stage; the same for the same samples and key."""

    def __init__(self, method: str, samples: Samples, settings: StageSettings, key: Key) -> None:
        self.settings = settings
        self.key = key
        self.lesson: Lesson = METHODS[method].lesson(samples, settings, _rng(key.at("lesson")))
        self.units, self.weights = split(self.lesson.weight, settings.max_weight_ratio)

    @property
    def steps(self) -> int:
        """How many steps it takes."""
        return self.settings.max_steps or self.settings.epochs * self._an_epoch()

    def _an_epoch(self) -> int:
        return self.settings.steps_an_epoch(len(self.units), self.lesson.least)

    def batches(self, done: int = 0) -> Iterator[Batch]:
        """Every step's batch from a step on."""
        every = (places for epoch in count() for places in self._epoch(epoch))
        for places in islice(every, done, self.steps):
            yield self.lesson.batch([int(unit) for unit in self.units[places]], self.weights[places])

    def _epoch(self, epoch: int) -> list[Ints]:
        """All units once, in batches."""
        order = _rng(self.key.at("epoch", epoch)).permutation(len(self.units))
        return np.array_split(order, self._an_epoch())


def split(weight: Floats, heaviest: float) -> tuple[Ints, Floats]:
    """Each unit with its weight; one that weighs too much is there several times, with an equal part each time.

    The parts add up to the whole, so an epoch's gradient is the same; what is rescaled is all, so the mean stays 1.
    """
    times = np.maximum(1, np.ceil(weight / heaviest)).astype(np.int64)
    units = np.repeat(np.arange(len(weight)), times)
    parts = (weight / times)[units]
    return units, parts / parts.mean()


def _rng(key: Key) -> np.random.Generator:
    return np.random.default_rng(key.value)
