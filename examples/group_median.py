"""An estimator of credit of your own: columns about decisions in, an advantage for each of them out."""

from dataclasses import dataclass

import numpy as np

from stratagem.learning.credit.base import Credit, Decisions, Estimator, State
from stratagem.learning.credit.segments import cells


@dataclass(frozen=True, kw_only=True)
class GroupMedian(Estimator):
    """An episode is worth what it brought more than the median of its group, which one lucky rollout does not move."""

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({"group"})

    def estimate(self, decisions: Decisions, state: State) -> Credit:
        episodes = cells(decisions.episode)
        reward = episodes.total(decisions.reward(None))
        groups = cells(decisions.codes("group")[episodes.first])
        medians = np.array([np.median(reward[groups.of == group]) for group in range(len(groups.first))])
        better = reward - medians[groups.of]
        return Credit(advantage=better[episodes.of], counts={"groups": len(groups.first)})
