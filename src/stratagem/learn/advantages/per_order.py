"""Advantage of each order: that of its turn, and its own weight."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np

from stratagem.base.errors import UnknownName
from stratagem.base.options import within
from stratagem.learn.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, Floats, State
from stratagem.learn.advantages.group_mean import GroupMean
from stratagem.learn.advantages.segments import cells, subtract_group_mean

Combine = Literal["add", "multiply", "magnitude"]


@dataclass(frozen=True, kw_only=True)
class PerOrder(AdvantageEstimator):
    """Advantage of an order with a weight w: `A + c (w - mean w)`, the mean over the group, `A w`, or `A |w|`.

    A is another estimator's advantage, which sums `terms` over the episode, so an order's own reward belongs there too.
    Every token of an order gets the row's advantage.
    Reference: league-trained no-press Diplomacy: "each token of an order carries that order's weight".
    What differs: the source says that a void support weighs -1.5 and does not say how weights and advantages meet.
    Multiplied, a void support in a turn that went badly is *reinforced*, two minuses: use `multiply` for weights of at
    least 0. The metric `advantage/double_negative` is the share of such rows. `add` keeps each order's sign.
    `magnitude` keeps the sign of the turn: a weight says how much an order mattered, and not whether it was good.
    When not: where orders have no reward of their own.
    """

    of: AdvantageEstimator = field(default_factory=GroupMean)
    """Estimator of the advantage A."""
    combine: Combine = "add"
    """Operation on the advantage and the weight."""
    weight_coef: float = 1.0
    """Coefficient c of an added weight."""

    def __post_init__(self) -> None:
        within(None, "weight_coef", self.weight_coef, 0.0)
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
        if self.combine != "add":
            return _scale_advantages(estimate, np.abs(weight) if self.combine == "magnitude" else weight)
        own = self.weight_coef * subtract_group_mean(weight, cells(decisions.codes("group")))
        return replace(
            estimate,
            advantage=estimate.advantage + own,
            term_advantages={**estimate.term_advantages, "order": own},
            centred_terms={},
        )


def _scale_advantages(estimate: AdvantageEstimate, weight: Floats) -> AdvantageEstimate:
    """Multiply the advantages by weights, and count the rows that a product of two negative numbers reinforces."""
    reinforced = int(((weight < 0.0) & (estimate.advantage < 0.0)).sum())
    return replace(
        estimate,
        advantage=estimate.advantage * weight,
        term_advantages={name: share * weight for name, share in estimate.term_advantages.items()},
        centred_terms={name: values * weight for name, values in estimate.centred_terms.items()},
        counts={**estimate.counts, "double_negative": reinforced},
    )
