"""Return of an episode, less the mean return of its group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stratagem.base.options import within
from stratagem.learn.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, State
from stratagem.learn.advantages.segments import broadcast, cells, group_relative


@dataclass(frozen=True, kw_only=True)
class GroupMean(AdvantageEstimator):
    """`A = (R - mean R) / (std R + epsilon)` over the episodes of a group, the same for all decisions of an episode.

    Reference: GRPO (Shao et al. 2024) as trl computes it, with n - 1 in the standard deviation; without
    `normalize_std`, Dr. GRPO; without it and with `leave_one_out`, RLOO (Ahmadian et al. 2024).
    When not: in a zero-sum game whose group holds both seats the mean is 0 whatever is played: use `role_baseline`.
    Where what an episode earned was decided in one of many rounds, `per_round` finds it sooner.
    A group of one and a group without variance have advantage 0; both are counted.
    """

    normalize_std: bool = True
    """Division by the standard deviation of the group; it gives groups with tiny differences full weight."""
    leave_one_out: bool = False
    """Baseline of an episode: the mean of the other episodes of its group."""
    std_epsilon: float = 1e-4
    """Constant epsilon that is added to the standard deviation."""
    weights: Mapping[str, float] | None = None
    """Weight of each reward term; without weights all terms count once, with weights only the named ones."""

    def __post_init__(self) -> None:
        within(None, "std_epsilon", self.std_epsilon, 1e-12)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({"group"})

    @property
    def terms(self) -> frozenset[str]:
        return frozenset(self.weights or ())

    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        episodes = cells(decisions.episode)
        terms = {name: episodes.total(values) for name, values in decisions.weighted_terms(self.weights).items()}
        groups = cells(decisions.codes("group")[episodes.first])
        epsilon = self.std_epsilon if self.normalize_std else None
        estimate = group_relative(terms, groups, std_epsilon=epsilon, leave_one_out=self.leave_one_out)
        return broadcast(estimate, episodes.of)
