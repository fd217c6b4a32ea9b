"""Clipped policy gradient."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from stratagem.errors import BadParameter, UnknownName
from stratagem.learning.losses.base import Columns, Extra, Loss, LossOutput, Outputs, Totals
from stratagem.learning.losses.measuring import ranges, sums
from stratagem.learning.losses.ratios import KL_ESTIMATORS, KLEstimator, k3, ratio
from stratagem.learning.losses.sharing import NormalizeBy, check_normalize_by, counted, rows_of, shares
from stratagem.options import within


@dataclass(frozen=True, kw_only=True)
class PolicyGradient(Loss):
    """Clipped surrogate with a KL penalty to the reference policy and an entropy bonus.

    A token's loss is `-min(rho A, clip(rho, 1 - low, 1 + high) A) + beta KL - c H` with rho = pi / old, where `old` is
    the trainer's own probability before the step, under the sampler's temperature and allowed sets. The sampler's own
    log-probabilities are used only where a batch shows that they are the same, since those of a faster engine differ.

    Reference: PPO (Schulman 2017, eq. 7); GRPO (Shao 2024) is `kl_estimator="k3", normalize_by="example"`, Dr. GRPO
    `normalize_by="divisor"`, DAPO `clip_range_high=0.28`, SEPO (eq. 5 and 6) `kl_estimator="one_sided"` and
    `normalize_by="divisor"`. Equal to trl's GRPOTrainer for its loss types grpo, bnpo, dr_grpo and dapo, with and
    without `importance_corrected_kl`.
    What differs: the entropy bonus is a mean over the batch's tokens whatever `normalize_by` says (as in trl), so a
    coefficient means the same everywhere; the logarithm of a ratio is cut at 20.
    When not: with one step a batch rho is 1 everywhere and the clip has no effect, so any clip range will do; for
    data from another policy, use `spag`, `kto` or `cross_entropy`. `kl_estimator="k1"` without
    `importance_corrected_kl` has a zero gradient on average: it is a metric only.
    """

    clip_range_low: float = 0.2
    """Clip range of the ratio below 1."""
    clip_range_high: float = 0.2
    """Clip range of the ratio above 1."""
    kl_estimator: KLEstimator = "none"
    """Estimator of the KL divergence from the reference policy: none, one_sided, k1, k2 or k3."""
    kl_coef: float = 0.0
    """Coefficient beta of the KL penalty; with 0 the KL divergence is a metric only."""
    importance_corrected_kl: bool = False
    """Importance correction of the KL penalty by the ratio: its gradient is then that of KL(pi, ref) for k1 and k3
    (DeepSeek-V3.2; trl's default). Without it each estimator has the gradient that `ratios` states."""
    entropy_coef: float = 0.0
    """Coefficient c of the entropy bonus over the allowed tokens."""
    normalize_by: NormalizeBy = "token"
    """Divisor of the summed token losses: the tokens, each example's tokens, or a given divisor."""
    weighted: bool = False
    """Use of the column `weight` as the number of copies of each token; the entropy bonus does not use it."""

    def __post_init__(self) -> None:
        within(None, "clip_range_low", self.clip_range_low, 0.0, 1.0)
        for option in ("clip_range_high", "kl_coef", "entropy_coef"):
            within(None, option, getattr(self, option), 0.0)
        check_normalize_by(self.normalize_by)
        if self.kl_estimator not in ("none", *KL_ESTIMATORS):
            raise UnknownName("KL estimator", str(self.kl_estimator), ("none", *KL_ESTIMATORS))
        if self.kl_estimator == "none" and self.kl_coef:
            raise BadParameter(f"`kl_coef` {self.kl_coef:g} needs a `kl_estimator`: {', '.join(KL_ESTIMATORS)}.")

    @property
    def extras(self) -> frozenset[Extra]:
        reference: set[Extra] = {"reference_logprobs"} if self.kl_estimator != "none" else set()
        return frozenset(reference | ({"entropies"} if self.entropy_coef else set()))

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({"advantage", "old_logprobs"} | ({"weight"} if self.weighted else set()))

    @property
    def rows(self) -> frozenset[str]:
        return rows_of(self.normalize_by)

    def prepare(self, columns: Columns, outputs: Outputs | None = None) -> Totals:
        return counted(columns)

    def __call__(self, outputs: Outputs, columns: Columns, totals: Totals) -> LossOutput:
        logprobs = outputs.policy_logprobs
        old, advantage = (columns.tokens[name].to(logprobs) for name in ("old_logprobs", "advantage"))
        rho = ratio(logprobs, old)
        clipped = rho.clamp(1.0 - self.clip_range_low, 1.0 + self.clip_range_high)
        each = -torch.minimum(rho * advantage, clipped * advantage)
        metrics = {"ratio": rho, "approx_kl": k3(old, logprobs), **self._clipped(rho, advantage)}
        if self.kl_estimator != "none":
            kl = KL_ESTIMATORS[self.kl_estimator](logprobs, outputs.extra("reference_logprobs").to(logprobs))
            each = each + self.kl_coef * (rho * kl if self.importance_corrected_kl else kl)
            metrics["kl"] = kl
        if self.weighted:
            each = each * columns.tokens["weight"].to(logprobs)
        loss = (each * shares(self.normalize_by, columns, totals, torch.ones_like(logprobs))).sum()
        if outputs.entropies is not None:
            metrics["entropy"] = outputs.entropies
        if self.entropy_coef:
            loss = loss - self.entropy_coef * outputs.extra("entropies").sum() / totals["tokens"]
        return LossOutput(loss, sums(**metrics), ranges(ratio=rho))

    def _clipped(self, rho: torch.Tensor, advantage: torch.Tensor) -> dict[str, torch.Tensor]:
        """Tokens whose gradient the clip removes."""
        low = (rho < 1.0 - self.clip_range_low) & (advantage < 0)
        high = (rho > 1.0 + self.clip_range_high) & (advantage > 0)
        return {"clip_fraction": low | high, "clip_fraction_low": low, "clip_fraction_high": high}
