"""An order is worth what its turn was worth, and what it did itself."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from stratagem.errors import UnknownName
from stratagem.learning.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, State
from stratagem.learning.advantages.group_mean import GroupMean
from stratagem.learning.advantages.segments import cells, centred
from stratagem.options import within

How = Literal["plus", "times"]


@dataclass(frozen=True, kw_only=True)
class PerOrder(AdvantageEstimator):
    """Each row is an order with a weight: `A + scale (w - mean w)`, the mean over the group, or `A w`.

    A is another estimator's advantage, which sums `terms` over the episode, so an order's own reward belongs there too.
    Every token of an order gets the row's advantage.
    Reference: league-trained no-press Diplomacy: "each token of an order carries that order's weight".
    What differs: the source says that a void support weighs -1.5 and does not say how weights and advantages meet.
    Multiplied, a void support in a lost game is *reinforced*, two minuses; `times` is that, for weights that are never
    negative, and `turned` counts the rows where it happened. `plus` keeps each order's sign.
    When not: where orders have no reward of their own.
    """

    of: AdvantageEstimator = field(default_factory=GroupMean)
    """Where the advantage comes from."""
    how: How = "plus"
    """Whether the weight is added to the advantage or multiplies it."""
    scale: float = 1.0
    """What the weight counts where it is added."""

    def __post_init__(self) -> None:
        within(self, "scale", self.scale, 0.0)
        if self.how not in get_args(How):
            raise UnknownName("way to weigh orders", str(self.how), get_args(How))

    @property
    def columns(self) -> frozenset[str]:
        return self.of.columns | ({"weight", "group"} if self.how == "plus" else {"weight"})

    @property
    def terms(self) -> frozenset[str]:
        return self.of.terms

    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        estimate, weight = self.of(decisions, state), decisions.figures("weight")
        turned = (weight < 0) & (estimate.advantage < 0)
        if self.how == "times":
            shares = {name: share * weight for name, share in estimate.shares.items()}
            counts = {**estimate.counts, "turned": int(turned.sum())}
            before = {name: values * weight for name, values in estimate.centred.items()}
            return replace(
                estimate, advantage=estimate.advantage * weight, shares=shares, centred=before, counts=counts
            )
        own = self.scale * centred(weight, cells(decisions.codes("group")))
        return replace(
            estimate, advantage=estimate.advantage + own, shares={**estimate.shares, "order": own}, centred={}
        )
