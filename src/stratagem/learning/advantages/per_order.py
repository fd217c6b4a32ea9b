"""Advantage of each order: that of its turn, and its own weight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, get_args

from stratagem.errors import UnknownName
from stratagem.learning.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, State
from stratagem.learning.advantages.group_mean import GroupMean
from stratagem.learning.advantages.segments import cells, subtract_group_mean
from stratagem.options import within

Combine = Literal["add", "multiply"]


@dataclass(frozen=True, kw_only=True)
class PerOrder(AdvantageEstimator):
    """Advantage of an order with a weight w: `A + c (w - mean w)`, the mean over the group, or `A w`.

    A is another estimator's advantage, which sums `terms` over the episode, so an order's own reward belongs there too.
    Every token of an order gets the row's advantage.
    Reference: league-trained no-press Diplomacy: "each token of an order carries that order's weight".
    What differs: the source says that a void support weighs -1.5 and does not say how weights and advantages meet.
    Multiplied, a void support in a lost game is *reinforced*, two minuses; `multiply` is that, for weights of at
    least 0, and `turned` counts the rows where it happened. `add` keeps each order's sign.
    When not: where orders have no reward of their own.
    """

    replaced: ClassVar[Mapping[str, str]] = {"how": "combine (add or multiply)", "scale": "weight_coef"}

    of: AdvantageEstimator = field(default_factory=GroupMean)
    """Estimator of the advantage A."""
    combine: Combine = "add"
    """Operation on the advantage and the weight."""
    weight_coef: float = 1.0
    """Coefficient c of an added weight."""

    def __post_init__(self) -> None:
        within(self, "weight_coef", self.weight_coef, 0.0)
        if self.combine not in get_args(Combine):
            raise UnknownName("`combine` of per_order", str(self.combine), get_args(Combine))

    @property
    def columns(self) -> frozenset[str]:
        return self.of.columns | ({"weight", "group"} if self.combine == "add" else {"weight"})

    @property
    def terms(self) -> frozenset[str]:
        return self.of.terms

    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        estimate, weight = self.of(decisions, state), decisions.figures("weight")
        turned = (weight < 0) & (estimate.advantage < 0)
        if self.combine == "multiply":
            shares = {name: share * weight for name, share in estimate.term_advantages.items()}
            counts = {**estimate.counts, "turned": int(turned.sum())}
            before = {name: values * weight for name, values in estimate.centred_terms.items()}
            return replace(
                estimate,
                advantage=estimate.advantage * weight,
                term_advantages=shares,
                centred_terms=before,
                counts=counts,
            )
        own = self.weight_coef * subtract_group_mean(weight, cells(decisions.codes("group")))
        return replace(
            estimate,
            advantage=estimate.advantage + own,
            term_advantages={**estimate.term_advantages, "order": own},
            centred_terms={},
        )
