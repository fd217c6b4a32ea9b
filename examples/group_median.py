"""An advantage estimator of your own: columns about decisions in, an advantage for each of them out."""

from dataclasses import dataclass

import numpy as np

from stratagem.learn.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, State
from stratagem.learn.advantages.segments import cells


@dataclass(frozen=True, kw_only=True)
class GroupMedian(AdvantageEstimator):
    """Return of an episode less the median of its group, which one lucky rollout does not move."""

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({"group"})

    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        episodes = cells(decisions.episode)
        reward = episodes.total(decisions.reward(None))
        groups = cells(decisions.codes("group")[episodes.first])
        medians = np.array([np.median(reward[groups.of == group]) for group in range(len(groups.first))])
        better = reward - medians[groups.of]
        return AdvantageEstimate(advantage=better[episodes.of], counts={"groups": len(groups.first)})
