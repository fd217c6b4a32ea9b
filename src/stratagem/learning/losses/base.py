"""What a loss is: a pure function of what the model says about taught tokens, and of what is known about them.

All taught tokens of a batch stand in one row, example after example, without padding. A batch may come in pieces, which
cut neither an example nor a pair: what a loss divides by, and whatever else belongs to the whole batch, is worked out
once by `prepare`, so that the pieces' losses add up to the whole batch's, to rounding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import torch

Extra = Literal["reference_logprobs", "entropies", "values", "target_logprobs"]
Totals = Mapping[str, float]
"""Numbers of the whole batch."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What is known about N taught tokens of B examples."""

    example: torch.Tensor
    """Of which example each token is, from 0 to B - 1, ascending. [N]"""
    num_examples: int
    tokens: Mapping[str, torch.Tensor] = field(default_factory=dict)
    """By name, a number for each token. [N]"""
    rows: Mapping[str, torch.Tensor] = field(default_factory=dict)
    """By name, a number for each example. [B]"""
    pairs: torch.Tensor | None = None
    """The number of each example's pair. [B]"""


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """What the model says about the same tokens; what no loss needs is None."""

    policy_logprobs: torch.Tensor
    """Under the distribution that the token was drawn from: temperature and allowed set included. [N]"""
    reference_logprobs: torch.Tensor | None = None
    """The same under the reference weights, without gradient. [N]"""
    entropies: torch.Tensor | None = None
    """Of the distribution over the allowed set (or the whole vocabulary, or the example's `entropy_over`). [N]"""
    values: torch.Tensor | None = None
    """What a value head expects before the token. [N]"""
    target_logprobs: torch.Tensor | None = None
    """The expectation of the log-probability under the token's target distribution. [N]"""

    def extra(self, name: Extra) -> torch.Tensor:
        """What a loss said that it needs."""
        found: torch.Tensor | None = getattr(self, name)
        if found is None:
            raise KeyError(f"{name} was not computed: only what a loss names in `extras` is")
        return found


@dataclass(frozen=True)
class LossOutput:
    """The loss of a piece, and what is worth a look."""

    loss: torch.Tensor
    metrics: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Sums with their counts (or weights), which add up over pieces."""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The least and the greatest of what was seen."""

    def means(self) -> dict[str, float]:
        """Each metric's sum over its count; what was never counted has no mean."""
        return {name: total / count for name, (total, count) in self.metrics.items() if count}


class Loss(ABC):
    """A loss; settings are fields of a frozen dataclass, and what it needs may depend on them."""

    @property
    def needs_outputs(self) -> bool:
        """Whether `prepare` must see what the model says before the step."""
        return False

    @property
    def prepare_only_row(self) -> str | None:
        """The row that flags examples for `prepare` alone: it reads no others' outputs, and no piece needs these."""
        return None

    @property
    def extras(self) -> frozenset[Extra]:
        """What it needs of the model beside log-probabilities."""
        return frozenset()

    @property
    def columns(self) -> frozenset[str]:
        """What it needs to know of each token."""
        return frozenset()

    @property
    def rows(self) -> frozenset[str]:
        """What it needs to know of each example."""
        return frozenset()

    @property
    def paired(self) -> bool:
        """Whether it compares the examples of a pair."""
        return False

    @abstractmethod
    def prepare(self, columns: Columns, outputs: Outputs | None = None) -> Totals:
        """Numbers of the whole batch; `outputs`, without gradient, only for a loss that has `needs_outputs`."""

    @abstractmethod
    def __call__(self, outputs: Outputs, columns: Columns, totals: Totals) -> LossOutput:
        """The loss of a piece of the batch."""


def by_example(values: torch.Tensor, columns: Columns) -> torch.Tensor:
    """Sums [B] over the tokens [N] of each example."""
    return values.new_zeros(columns.num_examples).index_add(0, columns.example, values)


def combined(pieces: Iterable[LossOutput]) -> LossOutput:
    """The whole batch's output from those of its pieces, for looking at: the losses' sum carries no gradient."""
    loss = torch.zeros(())
    metrics: dict[str, tuple[float, float]] = {}
    ranges: dict[str, tuple[float, float]] = {}
    for piece in pieces:
        loss = loss.to(piece.loss) + piece.loss.detach()
        for name, (total, count) in piece.metrics.items():
            before = metrics.get(name, (0.0, 0.0))
            metrics[name] = (before[0] + total, before[1] + count)
        for name, (low, high) in piece.ranges.items():
            least, greatest = ranges.get(name, (low, high))
            ranges[name] = (min(least, low), max(greatest, high))
    return LossOutput(loss, metrics, ranges)
