"""An episode is worth what it brought more than the others of its group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stratagem.learning.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, State
from stratagem.learning.advantages.grouped import against_the_group, broadcast
from stratagem.learning.advantages.segments import cells
from stratagem.options import within


@dataclass(frozen=True, kw_only=True)
class GroupMean(AdvantageEstimator):
    """`A = (r - mean r) / (std r + delta)` over the episodes of a group, the same for all decisions of an episode.

    Reference: GRPO (Shao 2024) as trl computes it, with n - 1 in the spread; without `scale`, Dr. GRPO; without it and
    with `leave_one_out`, RLOO (Ahmadian 2024). Diplomacy's turns share the sum of an episode so.
    When not: in a zero-sum game whose group holds both seats the mean is 0 whatever is played: use `role_baseline`.
    Where what an episode earned was decided in one of many rounds, `per_round` finds it sooner.
    A group of one and a group without variance bring nothing; both are counted.
    """

    scale: bool = True
    """Whether to divide by the spread; it makes groups that differ by a hair count as much as any."""
    leave_one_out: bool = False
    """Whether an episode is left out of the mean that it is compared with."""
    delta: float = 1e-4
    """What is added to the spread."""
    weights: Mapping[str, float] | None = None
    """What each term of the reward counts; without them all count once, with them those that have one."""

    def __post_init__(self) -> None:
        within(self, "delta", self.delta, 1e-12)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({"group"})

    @property
    def terms(self) -> frozenset[str]:
        return frozenset(self.weights or ())

    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        episodes = cells(decisions.episode)
        terms = {name: episodes.total(values) for name, values in decisions.weighed(self.weights).items()}
        groups = cells(decisions.codes("group")[episodes.first])
        estimate = against_the_group(
            terms, groups, scale=self.scale, delta=self.delta, leave_one_out=self.leave_one_out
        )
        return broadcast(estimate, episodes.of)
