"""Expect what came."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from stratagem.learning.losses.base import Columns, Extra, Loss, LossOutput, Outputs, Totals
from stratagem.learning.losses.measuring import sums
from stratagem.learning.losses.sharing import Per, check_per, counted, rows_of, shares
from stratagem.options import within


@dataclass(frozen=True, kw_only=True)
class Value(Loss):
    """Half the squared error of the value head, or that of the value kept near the old one, whichever is greater.

    A token's loss is `max((V - R)^2, (clip(V, old - c, old + c) - R)^2) / 2`.
    Reference: trl 0.11's PPOTrainer, after OpenAI's PPO2; ShapeLLM trains with it. `explained` is the share of the
    returns' variance that the value explains: 1 at best, 0 for a constant, less where it is worse than the mean.
    When not: the clip is in units of the return, so scale rewards or turn it off where returns are much greater than 1.
    """

    clip: float | None = 0.2
    """How far from the old value a value still counts; without it, the plain squared error."""
    per: Per = "token"
    """What the loss is divided by."""

    def __post_init__(self) -> None:
        if self.clip is not None:
            within(self, "clip", self.clip, 0.0)
        check_per(self.per)

    @property
    def extras(self) -> frozenset[Extra]:
        return frozenset({"values"})

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({"return"} if self.clip is None else {"return", "old_value"})

    @property
    def rows(self) -> frozenset[str]:
        return rows_of(self.per)

    def prepare(self, columns: Columns, outputs: Outputs | None = None) -> Totals:
        counts = counted(columns)
        return {**counts, "mean_return": columns.tokens["return"].sum().item() / counts["tokens"]}

    def __call__(self, outputs: Outputs, columns: Columns, totals: Totals) -> LossOutput:
        values = outputs.extra("values")
        returns = columns.tokens["return"].to(values)
        error = (values - returns).square()
        worse = error
        if self.clip is not None:
            near = columns.tokens["old_value"].to(values)
            worse = torch.maximum(error, (values.clamp(near - self.clip, near + self.clip) - returns).square())
        loss = 0.5 * (worse * shares(self.per, columns, totals, torch.ones_like(values))).sum()
        seen = sums(value=values, returns=returns, error=error, clipped=worse > error)
        return LossOutput(loss, {**seen, "explained": _explained(error, returns, totals["mean_return"])})


def _explained(error: torch.Tensor, returns: torch.Tensor, mean: float) -> tuple[float, float]:
    """How much less the error is than the spread of the returns, and that spread."""
    spread = (returns - mean).square().sum().item()
    return spread - error.detach().sum().item(), spread
