"""Weighted sums of losses."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import torch

from stratagem.learn.losses.base import Columns, Extra, Loss, LossOutput, Outputs, Totals


class LossTerm(NamedTuple):
    """Term of a sum of losses; its name prefixes its metrics and totals."""

    name: str
    coefficient: float
    loss: Loss


class Summed(Loss):
    """Weighted sum of several losses of one batch.

    Examples that one loss uses in `prepare` alone must have weight 0 in the others.
    """

    @abstractmethod
    def parts(self) -> tuple[LossTerm, ...]:
        """Return the losses; their names differ."""

    @property
    def extras(self) -> frozenset[Extra]:
        return frozenset().union(*(part.loss.extras for part in self.parts()))

    @property
    def columns(self) -> frozenset[str]:
        return frozenset().union(*(part.loss.columns for part in self.parts()))

    @property
    def rows(self) -> frozenset[str]:
        return frozenset().union(*(part.loss.rows for part in self.parts()))

    @property
    def paired(self) -> bool:
        return any(part.loss.paired for part in self.parts())

    @property
    def needs_outputs(self) -> bool:
        return any(part.loss.needs_outputs for part in self.parts())

    @property
    def prepare_only_row(self) -> str | None:
        return next((part.loss.prepare_only_row for part in self.parts() if part.loss.prepare_only_row), None)

    def prepare(self, columns: Columns, outputs: Outputs | None = None) -> Totals:
        return {
            f"{part.name}/{name}": number
            for part in self.parts()
            for name, number in part.loss.prepare(columns, outputs).items()
        }

    def __call__(self, outputs: Outputs, columns: Columns, totals: Totals) -> LossOutput:
        results = {part: part.loss(outputs, columns, _under(part.name, totals)) for part in self.parts()}
        loss = torch.stack([part.coefficient * output.loss for part, output in results.items()]).sum()
        metrics = {f"{part.name}/{name}": pair for part, out in results.items() for name, pair in out.metrics.items()}
        ranges = {f"{part.name}/{name}": pair for part, out in results.items() for name, pair in out.ranges.items()}
        return LossOutput(loss, metrics, ranges)


@dataclass(frozen=True)
class Sum(Summed):
    """Sum of given losses; SCO-PAL's joint loss is cross-entropy of desirable replies plus KTO."""

    of: tuple[LossTerm, ...]

    def parts(self) -> tuple[LossTerm, ...]:
        return self.of


def _under(name: str, totals: Totals) -> Totals:
    start = f"{name}/"
    return {key.removeprefix(start): number for key, number in totals.items() if key.startswith(start)}
