"""Whitened advantages: mean 0 over all rows or over each round, and standard deviation 1."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from stratagem.base.errors import UnknownName
from stratagem.base.options import within
from stratagem.learn.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, Floats, Ints, State
from stratagem.learn.advantages.gae import GAE


@dataclass(frozen=True, kw_only=True)
class Whitened(AdvantageEstimator):
    """Another estimator's advantages less their mean, divided by their standard deviation over all rows of the batch.

    Reference: `masked_whiten` of trl 0.11, used by its PPO and by ShapeLLM's; returns stay as they are.
    With the mean over each round, the mean is that of the same round in all episodes: it is a baseline for the return
    that is still to come. A round that one episode alone reached has advantage 0.
    Where all rewards are nearly equal the division amplifies noise: `advantage_std_floor` bounds it.
    When not: where all advantages of a batch may truly be of one sign, as in probes, the shift reverses some.
    """

    of: AdvantageEstimator = field(default_factory=GAE)
    """Estimator of the advantages."""
    mean_over: Literal["batch", "round"] = "batch"
    """Rows over which the mean is taken."""
    advantage_std_floor: float = 0.0
    """Lower bound of the standard deviation in the division; trl has none."""

    def __post_init__(self) -> None:
        if self.mean_over not in ("batch", "round"):
            raise UnknownName("`mean_over` of whitened", str(self.mean_over), ("batch", "round"))
        within(None, "advantage_std_floor", self.advantage_std_floor, 0.0)

    @property
    def columns(self) -> frozenset[str]:
        return self.of.columns | ({"round"} if self.mean_over == "round" else frozenset())

    @property
    def terms(self) -> frozenset[str]:
        return self.of.terms

    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        estimate = self.of(decisions, state)
        if len(decisions) < 2:
            return estimate
        rounds = decisions.codes("round") if self.mean_over == "round" else np.zeros(len(decisions), dtype=np.int64)
        advantage = _centre_values(estimate.advantage, rounds)
        # trl's `whiten` adds 1e-8 to the variance, too, and divides by n - 1
        factor = 1.0 / np.sqrt(max(advantage.var(ddof=1), self.advantage_std_floor**2) + 1e-8)
        centred = {name: _centre_values(share, rounds) for name, share in estimate.term_advantages.items()}
        shares = {name: share * factor for name, share in centred.items()}
        return replace(estimate, advantage=advantage * factor, term_advantages=shares, centred_terms=centred)


def _centre_values(values: Floats, groups: Ints) -> Floats:
    """Subtract from each value the mean of its group."""
    _, codes = np.unique(groups, return_inverse=True)
    means: Floats = np.bincount(codes, weights=values) / np.bincount(codes)
    return values - means[codes]
