"""Kahneman-Tversky optimization of single replies with a label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from stratagem.base.errors import BadParameter
from stratagem.base.options import within
from stratagem.learn.example import Example
from stratagem.learn.losses.base import Columns, Extra, Loss, LossOutput, Outputs, Totals, among, by_example


@dataclass(frozen=True, kw_only=True)
class KTO(Loss):
    """Kahneman-Tversky optimization: `w_D (1 - s(beta (r - z)))` if desirable, else `w_U (1 - s(beta (z - r)))`.

    s is the logistic function, r = log pi(y|x) - log ref(y|x) over the whole reply, and z the mean of r over mismatched
    replies, at least 0 and without gradient, which stands for the divergence of the policy from the reference.
    Reference: Ethayarajh et al. 2024, eq. 7 and 8; SCO-PAL, eq. 2 to 6. Equal to trl's KTOTrainer.
    What differs: z comes from the whole batch and not from each microbatch.
    Mismatched replies are examples of the batch whose row `kl` is 1 (`mismatch_replies` makes them).
    They have no gradient.
    When not: where replies to one prompt can be compared, `dpo` or a policy gradient learns more from them.
    """

    kto_beta: float = 0.1
    """Temperature beta of KTO: the smaller, the farther the policy may move from the reference."""
    desirable_weight: float = 1.0
    """Weight of a desirable reply; SCO-PAL gives both kinds the same total weight, the greater weight being 1."""
    undesirable_weight: float = 1.0
    """Weight of an undesirable reply."""
    weighted: bool = False
    """Use of the row `weight` of each reply; the divisor stays the number of replies."""

    def __post_init__(self) -> None:
        for option in ("kto_beta", "desirable_weight", "undesirable_weight"):
            within(None, option, getattr(self, option), 0.0)

    @property
    def extras(self) -> frozenset[Extra]:
        return frozenset({"reference_logprobs"})

    @property
    def rows(self) -> frozenset[str]:
        return frozenset({"desirable", "kl"} | ({"weight"} if self.weighted else set()))

    @property
    def needs_outputs(self) -> bool:
        return True

    @property
    def prepare_only_row(self) -> str:
        return "kl"

    def prepare(self, columns: Columns, outputs: Outputs | None = None) -> Totals:
        if outputs is None:
            raise KeyError("the batch's KL divergence comes from the model's outputs before the step")
        mismatched = columns.rows["kl"] > 0
        number = int(mismatched.sum().item())
        if not number:
            raise BadParameter("KTO needs mismatched replies in every batch, examples whose row `kl` is 1.")
        weight = self._weight(columns)[mismatched]
        log_ratios = _log_ratios(outputs, columns).detach()[mismatched] * weight
        divergence = log_ratios.sum().item() / (weight.sum().item() or 1.0)
        # a divergence is at least 0, though the estimate of one batch may be below (Ethayarajh et al. 2024, eq. 8)
        return {"examples": float(columns.num_examples - number), "kl": max(0.0, divergence)}

    def _weight(self, columns: Columns) -> torch.Tensor:
        return columns.rows["weight"] if self.weighted else torch.ones_like(columns.rows["kl"])

    def __call__(self, outputs: Outputs, columns: Columns, totals: Totals) -> LossOutput:
        log_ratios = _log_ratios(outputs, columns)
        desirable, in_loss = columns.rows["desirable"] > 0, columns.rows["kl"] <= 0
        sign = torch.where(desirable, 1.0, -1.0).to(log_ratios)
        weight = torch.where(desirable, self.desirable_weight, self.undesirable_weight).to(log_ratios) * in_loss
        weight = weight * self._weight(columns).to(log_ratios)
        each = weight * torch.sigmoid(-self.kto_beta * sign * (log_ratios - totals["kl"]))
        rewards = self.kto_beta * log_ratios
        metrics = {
            "reward_desirable": among(rewards, desirable & in_loss),
            "reward_undesirable": among(rewards, ~desirable & in_loss),
            "kl": (totals["kl"] * in_loss.sum().item(), float(in_loss.sum().item())),
        }
        return LossOutput(each.sum() / max(totals["examples"], 1.0), metrics)


def _log_ratios(outputs: Outputs, columns: Columns) -> torch.Tensor:
    """Compute the log-ratio of each reply to the reference policy, [B]."""
    logprobs = outputs.policy_logprobs
    return by_example(logprobs - outputs.extra("reference_logprobs").to(logprobs), columns)


def mismatch_replies(examples: Sequence[Example]) -> list[Example]:
    """Join each example's prompt with the reply of the example before it (the first with the last's); flag them `kl`.

    Allowed sets are left out: they belong to the reply's own prompt.
    """
    if len(examples) < 2:
        raise BadParameter("Mismatched replies need two examples or more: put more of them in a batch.")
    before = [examples[-1], *examples[:-1]]
    return [_join_reply(example, other) for example, other in zip(examples, before, strict=True)]


def _join_reply(example: Example, other: Example) -> Example:
    start, theirs = example.loss_positions[0], other.loss_positions[0]
    return replace(
        example,
        tokens=(*example.tokens[:start], *other.tokens[theirs:]),
        loss_positions=tuple(position - theirs + start for position in other.loss_positions),
        allowed=(),
        columns={},
        targets=(),
        row={**example.row, "kl": 1.0},
    )
