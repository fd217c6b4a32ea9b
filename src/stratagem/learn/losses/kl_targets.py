"""KL divergence from target distributions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from stratagem.learn.example import Target
from stratagem.learn.losses.base import Columns, Extra, Loss, LossOutput, Outputs, Totals, sums
from stratagem.learn.losses.sharing import NormalizeBy, check_normalize_by, count_totals, rows_of, shares


@dataclass(frozen=True, kw_only=True)
class KLTargets(Loss):
    """KL divergence of the model's distribution from a target at each token: `KL(p, pi) = sum p log p - sum p log pi`.

    Reference: ShapeLLM, appendix A.9, which copies one model's initial policy into another with 1,000 prompts; a target
    there has two tokens, renormalised. The target's entropy is a column, so that the loss is 0
    where the model agrees; it has no gradient.
    When not: to learn from samples of another model; then `cross_entropy` is the same on average and needs no targets.
    """

    normalize_by: NormalizeBy = "token"
    """Divisor of the summed token losses: the tokens, each example's tokens, or a given divisor."""

    def __post_init__(self) -> None:
        check_normalize_by(self.normalize_by)

    @property
    def extras(self) -> frozenset[Extra]:
        return frozenset({"target_logprobs"})

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({"target_entropy"})

    @property
    def rows(self) -> frozenset[str]:
        return rows_of(self.normalize_by)

    def prepare(self, columns: Columns, outputs: Outputs | None = None) -> Totals:
        return count_totals(columns)

    def __call__(self, outputs: Outputs, columns: Columns, totals: Totals) -> LossOutput:
        expected = outputs.extra("target_logprobs")
        divergence = -columns.tokens["target_entropy"].to(expected) - expected
        loss = (divergence * shares(self.normalize_by, columns, totals, torch.ones_like(expected))).sum()
        return LossOutput(loss, sums(kl=divergence))


def target_entropy(target: Target) -> float:
    """Compute the entropy of a target, for the column `target_entropy`: `-sum p log p`."""
    return -sum(share * math.log(share) for share in target.values() if share > 0.0)
