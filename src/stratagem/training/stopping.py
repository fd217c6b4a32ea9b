"""Stopping rule: training ends before its last step where a validation metric stands still."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from pydantic import Field

from stratagem.base.errors import UnknownName
from stratagem.base.renamed.metrics import MetricName
from stratagem.base.settings import FiniteSettings

NUM_WINDOWS = 3
"""Windows whose means are compared: two could agree at a turning point of the curve."""


class StoppingSettings(FiniteSettings):
    """Rule that ends training where a validation metric stands still.

    The means of the metric over three successive windows of validations lie within `tolerance`.
    """

    metric: MetricName
    """Metric to compare, as metrics.jsonl names it; one that validations have."""
    window: int = Field(default=10, ge=2)
    """Number of validations in each of the three windows."""
    tolerance: float = Field(gt=0.0)
    """Largest difference between the means of the windows, in the unit of the metric."""

    def stands_still(self, values: Sequence[float]) -> bool:
        """Test whether the last three windows of a curve have equal means, up to the tolerance."""
        needed = NUM_WINDOWS * self.window
        last = values[-needed:]
        if len(last) < needed or not all(map(math.isfinite, last)):
            return False
        means = [fmean(last[begin : begin + self.window]) for begin in range(0, needed, self.window)]
        return max(means) - min(means) <= self.tolerance


class StoppingRule:
    """A stopping rule with the values that it has seen; without settings training never stops early."""

    def __init__(self, settings: StoppingSettings | None) -> None:
        self.settings = settings
        self.values: list[float] = []
        """Values of the metric by validation, the first before the first step."""

    def add(self, metrics: Mapping[str, float]) -> None:
        """Take the metric of a validation; a metric that it does not have is refused."""
        if self.settings is None:
            return
        if self.settings.metric not in metrics:
            raise UnknownName("metric of `stop`", self.settings.metric, metrics)
        self.values.append(metrics[self.settings.metric])

    @property
    def is_met(self) -> bool:
        """True if training is to end."""
        return self.settings is not None and self.settings.stands_still(self.values)
