"""Advantages of one spread, whatever the rewards are, about the mean of all rows or of those of the same round."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from stratagem.errors import UnknownName
from stratagem.learning.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, Floats, Ints, State
from stratagem.learning.advantages.gae import GAE
from stratagem.options import within


@dataclass(frozen=True, kw_only=True)
class Whitened(AdvantageEstimator):
    """Another estimator's advantages less their mean, divided by their spread, over all rows of the batch.

    Reference: `masked_whiten` of trl 0.11, by which its PPO and ShapeLLM's train; returns stay as they are.
    Within a round, the mean is that of the same round in the other episodes: what is still to come at that time is then
    no matter, though nothing is known of it. A round that one episode alone reached teaches nothing.
    Where all was paid nearly alike the division makes as much of what is left, which is noise, as of any batch: `least`
    bounds it.
    When not: where all advantages of a batch may truly be of one sign, as in probes, the shift turns some round.
    """

    of: AdvantageEstimator = field(default_factory=GAE)
    """Whose advantages."""
    within: Literal["batch", "round"] = "batch"
    """Of which rows the mean is taken away."""
    least: float = 0.0
    """No smaller spread is divided by; trl has no such bound."""

    def __post_init__(self) -> None:
        if self.within not in ("batch", "round"):
            raise UnknownName("within", self.within, ("batch", "round"))
        within(self, "least", self.least, 0.0)

    @property
    def columns(self) -> frozenset[str]:
        return self.of.columns | ({"round"} if self.within == "round" else frozenset())

    @property
    def terms(self) -> frozenset[str]:
        return self.of.terms

    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        estimate = self.of(decisions, state)
        if len(decisions) < 2:
            return estimate
        rounds = decisions.codes("round") if self.within == "round" else np.zeros(len(decisions), dtype=np.int64)
        advantage = _centred(estimate.advantage, rounds)
        factor = 1.0 / np.sqrt(max(advantage.var(ddof=1), self.least**2) + 1e-8)
        centred = {name: _centred(share, rounds) for name, share in estimate.shares.items()}
        shares = {name: share * factor for name, share in centred.items()}
        return replace(estimate, advantage=advantage * factor, shares=shares, centred=centred)


def _centred(values: Floats, groups: Ints) -> Floats:
    """The values less the mean of their group."""
    _, places = np.unique(groups, return_inverse=True)
    means: Floats = np.bincount(places, weights=values) / np.bincount(places)
    return values - means[places]
