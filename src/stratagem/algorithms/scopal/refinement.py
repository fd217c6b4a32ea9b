"""One stage of refinement: epochs over a method's training set, with the policy at its start as the reference."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice

import numpy as np

from stratagem.algorithms.scopal.methods import METHODS, Batch, TrainingSet
from stratagem.algorithms.scopal.samples import Samples
from stratagem.algorithms.scopal.settings import StageSettings
from stratagem.games.key import Key
from stratagem.learning.advantages.base import Floats, Ints


class Refinement:
    """Batches of a stage; the same for the same samples and key."""

    def __init__(self, method: str, samples: Samples, settings: StageSettings, key: Key) -> None:
        self.settings = settings
        self.key = key
        self.training_set: TrainingSet = METHODS[method].training_set(samples, settings, _rng(key.at("lesson")))
        self.units, self.weights = split(self.training_set.weight, settings.max_weight_ratio)

    @property
    def num_steps(self) -> int:
        """Number of optimizer steps."""
        return self.settings.max_steps or self.settings.epochs * self._steps_per_epoch()

    def _steps_per_epoch(self) -> int:
        return self.settings.steps_per_epoch(len(self.units), self.training_set.min_units)

    def batches(self, done: int = 0) -> Iterator[Batch]:
        """Yield the batch of each step that is left."""
        every = (indices for epoch in count() for indices in self._epoch(epoch))
        for indices in islice(every, done, self.num_steps):
            yield self.training_set.batch([int(unit) for unit in self.units[indices]], self.weights[indices])

    def _epoch(self, epoch: int) -> list[Ints]:
        """Return the shuffled units of an epoch in batches."""
        order = _rng(self.key.at("epoch", epoch)).permutation(len(self.units))
        return np.array_split(order, self._steps_per_epoch())


def split(weight: Floats, max_ratio: float) -> tuple[Ints, Floats]:
    """Return the units with their weights; a unit above `max_ratio` is split into several of equal weight.

    The parts of a unit add up to its weight, so the gradient of an epoch is the same. All weights are rescaled to a
    mean of 1.
    """
    times = np.maximum(1, np.ceil(weight / max_ratio)).astype(np.int64)
    units = np.repeat(np.arange(len(weight)), times)
    parts = (weight / times)[units]
    return units, parts / parts.mean()


def _rng(key: Key) -> np.random.Generator:
    return np.random.default_rng(key.value)
