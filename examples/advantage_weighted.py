"""A loss of your own: what it needs, what belongs to the whole batch, and a pure function of what the model says."""

from dataclasses import dataclass

from stratagem.base.options import within
from stratagem.learn.losses.base import Columns, Loss, LossOutput, Outputs, Totals


@dataclass(frozen=True, kw_only=True)
class AdvantageWeighted(Loss):
    """Advantage-weighted regression: `-sum min(exp(A / beta), 20) log pi / N` (Peng et al. 2019)."""

    awr_beta: float = 1.0
    """Temperature beta of the advantage weights."""

    def __post_init__(self) -> None:
        within(self, "awr_beta", self.awr_beta, 0.001)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({"advantage"})

    def prepare(self, columns: Columns, outputs: Outputs | None = None) -> Totals:
        return {"tokens": float(len(columns.example)) or 1.0}

    def __call__(self, outputs: Outputs, columns: Columns, totals: Totals) -> LossOutput:
        weight = (columns.tokens["advantage"].to(outputs.policy_logprobs) / self.awr_beta).exp().clamp(max=20.0)
        loss = -(weight * outputs.policy_logprobs).sum() / totals["tokens"]
        return LossOutput(loss, {"weight": (weight.sum().item(), float(len(weight)))})
