"""Say more often what brought an advantage, a step at a time."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from stratagem.errors import BadParameter, UnknownName
from stratagem.learning.losses.base import Columns, Extra, Loss, LossOutput, Outputs, Totals
from stratagem.learning.losses.measuring import ranges, sums
from stratagem.learning.losses.ratios import DIVERGENCES, Charge, k3, ratio
from stratagem.learning.losses.sharing import Per, check_per, counted, rows_of, shares
from stratagem.options import within


@dataclass(frozen=True, kw_only=True)
class PolicyGradient(Loss):
    """The clipped surrogate, with a charge for leaving the reference and a bonus for entropy.

    A token's loss is `-min(rho A, clip(rho, 1 - low, 1 + high) A) + beta KL - c H`, with rho = pi / old, where `old` is
    what the trainer itself found before the step, under the sampler's own temperature and allowed sets; what a sampler
    reports is never used, since a faster engine's figures differ.

    Reference: PPO (Schulman 2017, eq. 7); GRPO (Shao 2024) is `kl="k3", per="example"`, Dr. GRPO `per="divisor"`, DAPO
    `clip_high=0.28`, SEPO (eq. 5 and 6) `kl="one_sided", per="divisor"`. Equal to trl's GRPOTrainer for its loss types
    grpo, bnpo, dr_grpo and dapo, with and without `corrected`.
    What differs: the entropy bonus is a mean over the batch's tokens whatever `per` says (as in trl), so a coefficient
    means the same everywhere; the logarithm of a ratio is cut at 20.
    When not: with one step a batch rho is 1 everywhere and the clip does nothing, so any `clip_` will do; for data that
    another policy said, use `spag`, `kto` or `cross_entropy`. `kl="k1"` without `corrected` holds nothing back on
    average: it is there to be measured.
    """

    clip_low: float = 0.2
    """How far below 1 the ratio still counts."""
    clip_high: float = 0.2
    """How far above 1 the ratio still counts."""
    kl: Charge = "none"
    """What is charged for leaving the reference: none, one_sided, k1, k2 or k3."""
    beta: float = 0.0
    """How much of it; with 0 it is measured only."""
    corrected: bool = False
    """Whether the charge is multiplied by the ratio: then its gradient, too, is that of its average, KL(pi, ref) for k1
    and k3 (DeepSeek-V3.2; trl's default). Without it they follow what `ratios` says of each, as their papers do."""
    entropy: float = 0.0
    """The bonus for the entropy over what was allowed."""
    per: Per = "token"
    """What the loss is divided by."""
    weighted: bool = False
    """Whether a column `weight` says how often each token is there; the bonus for entropy does not ask for it."""

    def __post_init__(self) -> None:
        within(self, "clip_low", self.clip_low, 0.0, 1.0)
        for option in ("clip_high", "beta", "entropy"):
            within(self, option, getattr(self, option), 0.0)
        check_per(self.per)
        if self.kl not in ("none", *DIVERGENCES):
            raise UnknownName("charge for leaving the reference", str(self.kl), ("none", *DIVERGENCES))
        if self.kl == "none" and self.beta:
            raise BadParameter(f"`beta` {self.beta:g} needs a `kl` to multiply: {', '.join(DIVERGENCES)}.")

    @property
    def extras(self) -> frozenset[Extra]:
        reference: set[Extra] = {"reference_logprobs"} if self.kl != "none" else set()
        return frozenset(reference | ({"entropies"} if self.entropy else set()))

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({"advantage", "old_logprobs"} | ({"weight"} if self.weighted else set()))

    @property
    def rows(self) -> frozenset[str]:
        return rows_of(self.per)

    def prepare(self, columns: Columns, outputs: Outputs | None = None) -> Totals:
        return counted(columns)

    def __call__(self, outputs: Outputs, columns: Columns, totals: Totals) -> LossOutput:
        said = outputs.policy_logprobs
        old, advantage = (columns.tokens[name].to(said) for name in ("old_logprobs", "advantage"))
        rho = ratio(said, old)
        each = -torch.minimum(rho * advantage, rho.clamp(1.0 - self.clip_low, 1.0 + self.clip_high) * advantage)
        seen = {"ratio": rho, "old_kl": k3(old, said), **self._clipped(rho, advantage)}
        if self.kl != "none":
            charge = DIVERGENCES[self.kl](said, outputs.extra("reference_logprobs").to(said))
            each = each + self.beta * (rho * charge if self.corrected else charge)
            seen["reference_kl"] = charge
        if self.weighted:
            each = each * columns.tokens["weight"].to(said)
        loss = (each * shares(self.per, columns, totals, torch.ones_like(said))).sum()
        if outputs.entropies is not None:
            seen["entropy"] = outputs.entropies
        if self.entropy:
            loss = loss - self.entropy * outputs.extra("entropies").sum() / totals["tokens"]
        return LossOutput(loss, sums(**seen), ranges(ratio=rho))

    def _clipped(self, rho: torch.Tensor, advantage: torch.Tensor) -> dict[str, torch.Tensor]:
        """Where the clip took the gradient away."""
        low = (rho < 1.0 - self.clip_low) & (advantage < 0)
        high = (rho > 1.0 + self.clip_high) & (advantage > 0)
        return {"clipped": low | high, "clipped_low": low, "clipped_high": high}
