"""Clipped squared error of the value head."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from stratagem.base.options import within
from stratagem.learn.losses.base import Columns, Extra, Loss, LossOutput, Outputs, Totals, sums
from stratagem.learn.losses.sharing import NormalizeBy, check_normalize_by, count_totals, rows_of, shares


@dataclass(frozen=True, kw_only=True)
class Value(Loss):
    """Half the squared error of the value head, or that of the clipped value, whichever is greater.

    A token's loss is `max((V - R)^2, (clip(V, old - c, old + c) - R)^2) / 2`.
    Reference: trl 0.11's PPOTrainer, after OpenAI's PPO2; ShapeLLM trains with it. The metric
    `explained_variance` is 1 at best, 0 for a constant, and negative where the value is worse than the mean return.
    When not: the clip is in units of the return, so scale rewards or turn it off where returns are much greater than 1.
    """

    clip_range: float | None = 0.2
    """Clip range around the old value; without it, the plain squared error."""
    normalize_by: NormalizeBy = "token"
    """Divisor of the summed token losses: the tokens, each example's tokens, or a given divisor."""

    def __post_init__(self) -> None:
        if self.clip_range is not None:
            within(None, "clip_range", self.clip_range, 0.0)
        check_normalize_by(self.normalize_by)

    @property
    def extras(self) -> frozenset[Extra]:
        return frozenset({"values"})

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({"return"} if self.clip_range is None else {"return", "old_value"})

    @property
    def rows(self) -> frozenset[str]:
        return rows_of(self.normalize_by)

    def prepare(self, columns: Columns, outputs: Outputs | None = None) -> Totals:
        counts = count_totals(columns)
        return {**counts, "mean_return": columns.tokens["return"].sum().item() / counts["tokens"]}

    def __call__(self, outputs: Outputs, columns: Columns, totals: Totals) -> LossOutput:
        values = outputs.extra("values")
        returns = columns.tokens["return"].to(values)
        error = (values - returns).square()
        worse = error
        if self.clip_range is not None:
            old = columns.tokens["old_value"].to(values)
            worse = torch.maximum(
                error, (values.clamp(old - self.clip_range, old + self.clip_range) - returns).square()
            )
        loss = 0.5 * (worse * shares(self.normalize_by, columns, totals, torch.ones_like(values))).sum()
        metrics = sums(value=values, returns=returns, squared_error=error, clip_fraction=worse > error)
        return LossOutput(
            loss, {**metrics, "explained_variance": _explained_variance(error, returns, totals["mean_return"])}
        )


def _explained_variance(error: torch.Tensor, returns: torch.Tensor, mean: float) -> tuple[float, float]:
    """Return the variance of the returns less the squared error, and that variance, both summed."""
    variance = (returns - mean).square().sum().item()
    return variance - error.detach().sum().item(), variance
