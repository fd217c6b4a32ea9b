"""Cross-entropy with demonstrations."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from stratagem.learn.losses.base import Columns, Loss, LossOutput, Outputs, Totals
from stratagem.learn.losses.sharing import NormalizeBy, check_normalize_by, count_totals, rows_of, shares


@dataclass(frozen=True, kw_only=True)
class CrossEntropy(Loss):
    """Negative log-likelihood of the demonstrations: `-sum w log pi / sum w` (supervised fine-tuning, cloning).

    Reference: SCO-PAL, eq. 1. With all weights 1 it is what trl's SFTTrainer computes.
    When not: where good and bad replies are mixed, since it trains on both; give weights, or use `kto`.
    """

    normalize_by: NormalizeBy = "token"
    """Divisor of the summed token losses: the tokens, each example's tokens, or a given divisor."""
    weighted: bool = False
    """Use of the column `weight`, at least 0; tokens of weight 0 are not counted."""

    def __post_init__(self) -> None:
        check_normalize_by(self.normalize_by)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({"weight"}) if self.weighted else frozenset()

    @property
    def rows(self) -> frozenset[str]:
        return rows_of(self.normalize_by)

    def prepare(self, columns: Columns, outputs: Outputs | None = None) -> Totals:
        return count_totals(columns, columns.tokens["weight"] if self.weighted else None)

    def __call__(self, outputs: Outputs, columns: Columns, totals: Totals) -> LossOutput:
        logprobs = outputs.policy_logprobs
        weight = columns.tokens["weight"].to(logprobs) if self.weighted else torch.ones_like(logprobs)
        loss = -(logprobs * shares(self.normalize_by, columns, totals, weight)).sum()
        total, size = torch.stack([-(logprobs.detach() * weight).sum(), weight.sum()]).tolist()
        return LossOutput(loss, {"nll": (total, size)})
