"""Clipped policy gradient, with the ratios and KL estimators at each token.

Log-ratios are clamped at 20, where a ratio is 5e8: losses stay finite, and beyond the clamp a token has no gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.base.options import within
from stratagem.learn.losses.base import Columns, Extra, Loss, LossOutput, Outputs, Totals, ranges, sums
from stratagem.learn.losses.sharing import NormalizeBy, check_normalize_by, count_totals, rows_of, shares

EXTREME = 20.0
"""Bound of the logarithm of a ratio."""
KLEstimator = Literal["none", "one_sided", "k1", "k2", "k3"]
Divergence = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def ratio(policy: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Compute the probability ratio of the policy to another one."""
    return (policy - other).clamp(-EXTREME, EXTREME).exp()


def one_sided(policy: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Compute `max(0, log pi - log ref)`, a penalty of tokens likelier than in the reference (SEPO, eq. 6).

    Where the two are bit-identical, as in a first step, it has no gradient; a clamp would have.
    """
    return torch.relu(policy - other)


def k1(policy: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Compute `log pi - log ref`: the divergence on average, but as a loss its gradient is zero on average."""
    return policy - other


def k2(policy: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Compute `(log pi - log ref)^2 / 2`: biased as an estimate; as a loss its mean gradient is that of KL(pi, ref)."""
    return (policy - other).square() / 2


def k3(policy: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Compute `ref/pi - 1 - log(ref/pi)`: at least 0, the divergence on average; as a loss it follows KL(ref, pi)."""
    log_ratio = other - policy
    return log_ratio.clamp(-EXTREME, EXTREME).expm1() - log_ratio


KL_ESTIMATORS: dict[str, Divergence] = {"one_sided": one_sided, "k1": k1, "k2": k2, "k3": k3}
"""KL estimators by name; all are averages over samples of the policy itself."""


@dataclass(frozen=True, kw_only=True)
class PolicyGradient(Loss):
    """Clipped surrogate with a KL penalty to the reference policy and an entropy bonus.

    A token's loss is `-min(rho A, clip(rho, 1 - low, 1 + high) A) + beta KL - c H` with rho = pi / old, where `old` is
    the trainer's own probability before the step, under the sampler's temperature and allowed sets. The sampler's own
    log-probabilities are used only where a batch shows that they are the same, since those of a faster engine differ.

    Reference: PPO (Schulman et al. 2017, eq. 7); GRPO (Shao et al. 2024) is `kl_estimator="k3",
    normalize_by="example"`, Dr. GRPO `normalize_by="divisor"`, DAPO `clip_range_high=0.28`, SEPO (eq. 5 and 6)
    `kl_estimator="one_sided"` and `normalize_by="divisor"`. Equal to trl's GRPOTrainer for its loss types grpo, bnpo,
    dr_grpo and dapo, with and without `importance_corrected_kl`.
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
        return count_totals(columns)

    def __call__(self, outputs: Outputs, columns: Columns, totals: Totals) -> LossOutput:
        logprobs = outputs.policy_logprobs
        old, advantage = (columns.tokens[name].to(logprobs) for name in ("old_logprobs", "advantage"))
        rho = ratio(logprobs, old)
        clipped = rho.clamp(1.0 - self.clip_range_low, 1.0 + self.clip_range_high)
        each = -torch.minimum(rho * advantage, clipped * advantage)
        metrics = {"ratio": rho, "approx_kl": k3(old, logprobs), **self._clipped_tokens(rho, advantage)}
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

    def _clipped_tokens(self, rho: torch.Tensor, advantage: torch.Tensor) -> dict[str, torch.Tensor]:
        """Tokens whose gradient the clip removes."""
        low = (rho < 1.0 - self.clip_range_low) & (advantage < 0)
        high = (rho > 1.0 + self.clip_range_high) & (advantage > 0)
        return {"clip_fraction": low | high, "clip_fraction_low": low, "clip_fraction_high": high}
