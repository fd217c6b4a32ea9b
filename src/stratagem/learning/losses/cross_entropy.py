"""Say what the demonstration said."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from stratagem.learning.losses.base import Columns, Loss, LossOutput, Outputs, Totals
from stratagem.learning.losses.sharing import Per, check_per, counted, rows_of, shares


@dataclass(frozen=True, kw_only=True)
class CrossEntropy(Loss):
    """The negative log-probability of what was said: `-sum w log pi / sum w` (supervised fine-tuning, cloning).

    Reference: SCO-PAL, eq. 1. With all weights 1 it is what trl's SFTTrainer computes.
    When not: where replies are good and bad alike, since it learns both; give weights, or use `kto`.
    """

    per: Per = "token"
    """What the loss is divided by."""
    weighted: bool = False
    """Whether each token has a `weight`, 0 or more; what has weight 0 teaches nothing and counts for nothing."""

    def __post_init__(self) -> None:
        check_per(self.per)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({"weight"}) if self.weighted else frozenset()

    @property
    def rows(self) -> frozenset[str]:
        return rows_of(self.per)

    def prepare(self, columns: Columns, outputs: Outputs | None = None) -> Totals:
        return counted(columns, columns.tokens["weight"] if self.weighted else None)

    def __call__(self, outputs: Outputs, columns: Columns, totals: Totals) -> LossOutput:
        said = outputs.policy_logprobs
        weight = columns.tokens["weight"].to(said) if self.weighted else torch.ones_like(said)
        loss = -(said * shares(self.per, columns, totals, weight)).sum()
        total, size = torch.stack([-(said.detach() * weight).sum(), weight.sum()]).tolist()
        return LossOutput(loss, {"nll": (total, size)})
