"""Offline policy gradient on games that an earlier policy played against itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch

from stratagem.base.errors import UnknownName
from stratagem.base.options import within
from stratagem.learn.losses.base import Columns, Extra, Loss, LossOutput, Outputs, Totals, by_example, ranges, sums
from stratagem.learn.losses.policy_gradient import EXTREME

Ratio = Literal["reply", "token"]


@dataclass(frozen=True, kw_only=True)
class SPAG(Loss):
    """Self-play of adversarial games: offline policy gradient with a divergence, `-(rho A - beta rho log rho)` a reply.

    rho = pi(y|x) / ref(y|x), where the reference is the policy that played, and `rho log rho` averages to KL(pi, ref)
    over its own replies. A is the discounted outcome of the game (estimator `spag`).
    Reference: Cheng et al. 2024, as in SCO-PAL's appendix B.2; its two halves, one for each player, are the row
    `weight`: N / (2 N_player) of N replies, or 1 where seats are balanced.
    What differs: the mean is over replies and not over episodes of replies, a constant factor, as in the authors' code;
    it takes the geometric mean over tokens for rho (`ratio="token"`), clips it, learns from winners alone, and adds
    half the cross-entropy of other instructions (`Sum`).
    When not: rho of a whole long reply soon leaves any range; then `ratio="token"`, or a clip.
    """

    kl_coef: float = 0.2
    """Coefficient beta of the KL penalty."""
    ratio: Ratio = "reply"
    """Ratio of the whole reply (the paper), or its geometric mean over the tokens (the authors' code)."""
    clip_range: float | None = None
    """Clip range of the ratio around 1; the authors' code has 0.2, the paper none."""

    def __post_init__(self) -> None:
        within(None, "kl_coef", self.kl_coef, 0.0)
        if self.clip_range is not None:
            within(None, "clip_range", self.clip_range, 0.0, 1.0)
        if self.ratio not in get_args(Ratio):
            raise UnknownName("ratio of SPAG", str(self.ratio), get_args(Ratio))

    @property
    def extras(self) -> frozenset[Extra]:
        return frozenset({"reference_logprobs"})

    @property
    def rows(self) -> frozenset[str]:
        return frozenset({"advantage", "weight"})

    def prepare(self, columns: Columns, outputs: Outputs | None = None) -> Totals:
        return {"weight": columns.rows["weight"].sum().item() or 1.0}

    def __call__(self, outputs: Outputs, columns: Columns, totals: Totals) -> LossOutput:
        logprobs = outputs.policy_logprobs
        log_rho = by_example(logprobs - outputs.extra("reference_logprobs").to(logprobs), columns)
        if self.ratio == "token":
            log_rho = log_rho / by_example(torch.ones_like(logprobs), columns).clamp(min=1.0)
        log_rho = log_rho.clamp(-EXTREME, EXTREME)
        rho = log_rho.exp()
        penalised = columns.rows["advantage"].to(rho) - self.kl_coef * log_rho
        gain = rho * penalised
        if self.clip_range is not None:
            gain = torch.minimum(gain, rho.clamp(1.0 - self.clip_range, 1.0 + self.clip_range) * penalised)
        loss = -(gain * columns.rows["weight"].to(rho)).sum() / totals["weight"]
        return LossOutput(loss, sums(ratio=rho, kl=rho * log_rho), ranges(ratio=rho))
