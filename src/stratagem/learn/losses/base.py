"""Interface of a loss: a pure function of the model's outputs for the loss tokens, and of their columns.

All loss tokens of a batch stand in one row, example after example, without padding. A batch may be split into
microbatches, which split neither an example nor a pair. `prepare` computes the divisor of the loss, and all else that
depends on the whole batch, once. The losses of the microbatches then add up to that of the batch, to rounding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import torch

from stratagem.base.errors import BadParameter

__all__ = ["Columns", "Loss", "LossOutput", "Outputs", "by_example", "combine_outputs"]

Extra = Literal["reference_logprobs", "entropies", "values", "target_logprobs"]
Totals = Mapping[str, float]
"""Statistics of the whole batch."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Columns about N loss tokens of B examples."""

    example: torch.Tensor
    """Index of each token's example, from 0 to B - 1, ascending. [N]"""
    num_examples: int
    tokens: Mapping[str, torch.Tensor] = field(default_factory=dict)
    """Columns with a number for each token, by name. [N]"""
    rows: Mapping[str, torch.Tensor] = field(default_factory=dict)
    """Columns with a number for each example, by name. [B]"""
    pairs: torch.Tensor | None = None
    """Number of each example's pair. [B]"""


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """Outputs of the model for the same tokens; None where the loss does not need one."""

    policy_logprobs: torch.Tensor
    """Log-probability under the distribution that the token was drawn from: with temperature and allowed set. [N]"""
    reference_logprobs: torch.Tensor | None = None
    """Log-probability under the reference policy, without gradient. [N]"""
    entropies: torch.Tensor | None = None
    """Entropy over the allowed set (or the whole vocabulary, or the example's `entropy_over`). [N]"""
    values: torch.Tensor | None = None
    """Estimate of the value head before the token. [N]"""
    target_logprobs: torch.Tensor | None = None
    """Expected log-probability under the token's target distribution. [N]"""

    def extra(self, name: Extra) -> torch.Tensor:
        """Return an output that the loss names in `extras`."""
        output: torch.Tensor | None = getattr(self, name)
        if output is None:
            raise KeyError(f"{name} was not computed: only what a loss names in `extras` is")
        return output


@dataclass(frozen=True)
class LossOutput:
    """Loss of a microbatch, with its metrics."""

    loss: torch.Tensor
    metrics: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Sums with their counts (or weights), which add up over microbatches."""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Minimum and maximum of each column."""

    def means(self) -> dict[str, float]:
        """Return the mean of each metric; one with count 0 is left out."""
        return {name: total / count for name, (total, count) in self.metrics.items() if count}


def check_output(loss: object, output: object) -> LossOutput:
    """Return what a loss returned; anything but a loss with a gradient and pairs as metrics is refused."""
    name = type(loss).__name__
    if not isinstance(output, LossOutput):
        raise BadParameter(f"{name} returned {type(output).__name__} in place of a LossOutput.")
    if not isinstance(output.loss, torch.Tensor) or output.loss.ndim or not output.loss.requires_grad:
        raise BadParameter(f"{name} returned a loss that is not one number with a gradient: sum over the tokens.")
    for table in ("metrics", "ranges"):
        if not isinstance(given := getattr(output, table), Mapping):
            raise BadParameter(f"{name} returned {type(given).__name__} as `{table}`, which must be a table by name.")
        for metric, pair in given.items():
            if not isinstance(pair, tuple) or len(pair) != 2 or not all(isinstance(x, int | float) for x in pair):
                what = "a sum and a count" if table == "metrics" else "a minimum and a maximum"
                raise BadParameter(
                    f"{name} returned {pair!r} as the metric {metric!r}, which must be {what}, as floats."
                )
    return output


class Loss(ABC):
    """Loss; settings are fields of a frozen dataclass, and the columns it needs may depend on them."""

    @property
    def needs_outputs(self) -> bool:
        """True where `prepare` needs the model's outputs before the step."""
        return False

    @property
    def prepare_only_row(self) -> str | None:
        """Row that flags examples for `prepare` alone: it reads no other outputs, and no microbatch contains these."""
        return None

    @property
    def extras(self) -> frozenset[Extra]:
        """Outputs that the loss needs beside log-probabilities."""
        return frozenset()

    @property
    def columns(self) -> frozenset[str]:
        """Columns that the loss needs of each token."""
        return frozenset()

    @property
    def rows(self) -> frozenset[str]:
        """Rows that the loss needs of each example."""
        return frozenset()

    @property
    def paired(self) -> bool:
        """True where the loss compares the examples of a pair."""
        return False

    @abstractmethod
    def prepare(self, columns: Columns, outputs: Outputs | None = None) -> Totals:
        """Compute the statistics of the whole batch; `outputs` (no gradient) only for a loss with `needs_outputs`."""

    @abstractmethod
    def __call__(self, outputs: Outputs, columns: Columns, totals: Totals) -> LossOutput:
        """Compute the loss of a microbatch."""


def by_example(values: torch.Tensor, columns: Columns) -> torch.Tensor:
    """Sum a column [N] over the tokens of each example, [B]."""
    return values.new_zeros(columns.num_examples).index_add(0, columns.example, values)


def combine_outputs(pieces: Iterable[LossOutput]) -> LossOutput:
    """Combine the outputs of microbatches into that of the batch, for metrics: its loss has no gradient."""
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


def sums(**columns: torch.Tensor) -> dict[str, tuple[float, float]]:
    """Return the sum and the length of each column."""
    if not columns:
        return {}
    totals = torch.stack([column.detach().sum(dtype=torch.float32) for column in columns.values()]).tolist()
    return {name: (total, float(len(column))) for (name, column), total in zip(columns.items(), totals, strict=True)}


def ranges(**columns: torch.Tensor) -> dict[str, tuple[float, float]]:
    """Return the minimum and the maximum of each column; empty columns are left out."""
    full = {name: column.detach().float() for name, column in columns.items() if len(column)}
    if not full:
        return {}
    ends = torch.stack([torch.stack(torch.aminmax(column)) for column in full.values()]).tolist()
    return {name: (low, high) for name, (low, high) in zip(full, ends, strict=True)}


def among(values: torch.Tensor, some: torch.Tensor) -> tuple[float, float]:
    """Return the sum and the number of the values that a mask selects."""
    picked = values.detach()[some]
    return picked.sum().item(), float(len(picked))
