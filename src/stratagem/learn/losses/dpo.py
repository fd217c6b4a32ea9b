"""Direct preference optimization of pairs of replies."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn.functional import logsigmoid

from stratagem.base.errors import BadParameter
from stratagem.base.options import within
from stratagem.learn.losses.base import Columns, Extra, Loss, LossOutput, Outputs, Totals, among, by_example, sums


@dataclass(frozen=True, kw_only=True)
class DPO(Loss):
    """Direct preference optimization: `-(1 - e) log s(h) - e log s(-h)` with `h = beta (r_chosen - r_rejected)`.

    s is the logistic function and r = log pi(y|x) - log ref(y|x) over the whole reply; the mean over pairs.
    Reference: Rafailov et al. 2023, eq. 7; label smoothing e is conservative DPO (Mitchell 2023). Equal to trl's
    DPOTrainer.
    When not: the replies of a pair answer the same prompt; for labels of single replies use `kto`. Where chosen and
    rejected share most tokens, both may become less likely: see the metric `reward_chosen`.
    """

    dpo_beta: float = 0.1
    """Temperature beta of DPO: the smaller, the farther the policy may move from the reference."""
    label_smoothing: float = 0.0
    """Assumed share e of pairs with flipped labels."""
    weighted: bool = False
    """Use of the row `weight` of the chosen reply as the weight of its pair; the divisor stays the number of pairs."""

    def __post_init__(self) -> None:
        within(None, "dpo_beta", self.dpo_beta, 0.0)
        within(None, "label_smoothing", self.label_smoothing, 0.0, 0.5)

    @property
    def extras(self) -> frozenset[Extra]:
        return frozenset({"reference_logprobs"})

    @property
    def rows(self) -> frozenset[str]:
        return frozenset({"chosen", "weight"} if self.weighted else {"chosen"})

    @property
    def paired(self) -> bool:
        return True

    def prepare(self, columns: Columns, outputs: Outputs | None = None) -> Totals:
        signs, pairs, number = _pairs(columns)
        for kind in (signs > 0, signs < 0):
            if not bool((torch.bincount(pairs[kind], minlength=number) == 1).all()):
                raise BadParameter("DPO needs pairs of two examples each, one of them with the row `chosen` at 1.")
        return {"pairs": float(number)}

    def __call__(self, outputs: Outputs, columns: Columns, totals: Totals) -> LossOutput:
        logprobs = outputs.policy_logprobs
        rewards = self.dpo_beta * by_example(logprobs - outputs.extra("reference_logprobs").to(logprobs), columns)
        signs, pairs, number = _pairs(columns)
        margin = rewards.new_zeros(number).index_add(0, pairs, signs.to(rewards) * rewards)
        each = -(1.0 - self.label_smoothing) * logsigmoid(margin) - self.label_smoothing * logsigmoid(-margin)
        if self.weighted:
            weight = columns.rows["weight"].to(rewards) * (signs > 0)
            each = each * rewards.new_zeros(number).index_add(0, pairs, weight)
        metrics = {
            **sums(reward_margin=margin, reward_accuracy=margin > 0),
            "reward_chosen": among(rewards, signs > 0),
            "reward_rejected": among(rewards, signs < 0),
        }
        return LossOutput(each.sum() / max(totals["pairs"], 1.0), metrics)


def _pairs(columns: Columns) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Return 1 for each chosen example and -1 for each rejected one, the index of its pair, and the number of pairs."""
    if columns.pairs is None:
        raise BadParameter("DPO needs examples with a `pair`: give both of a pair the same number.")
    names, pairs = torch.unique(columns.pairs, return_inverse=True)
    return torch.where(columns.rows["chosen"] > 0, 1, -1), pairs, len(names)
