"""Return from a round on, less the mean over the same round of the other rollouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from stratagem.base.errors import UnknownName
from stratagem.base.options import within
from stratagem.learn.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, State
from stratagem.learn.advantages.group_mean import GroupMean
from stratagem.learn.advantages.segments import broadcast, cells, group_relative, returns_to_go

Unit = Literal["round", "episode"]


@dataclass(frozen=True, kw_only=True)
class PerRound(AdvantageEstimator):
    """`A_it = (r_it - mean_i r_it) / (std_i r_it + epsilon)` over the rollouts i of a group, at each round t by itself.

    r is the payoff less the weighted penalties: `weights = {payoff = 1, exploit = -a, ...}`. Terms are centred one by
    one, so a term that is the same in all rollouts contributes exactly 0.0, and `shares` show it.
    Reference: SEPO, eq. 3 and 4.
    What differs: r is by default the return from the round on, not the reward of the round: a round's own payoff makes
    defection win every round of a repeated dilemma. The standard deviation has n - 1, which the paper leaves open.
    When not: rollouts that diverge are compared in situations that are no longer alike; the longer the game, the more.
    A round that only one rollout reached has advantage 0 and is counted, as are rounds without variance.
    """

    unit: Unit = "round"
    """Unit of comparison: each round, or the whole episode, for which `return_to_go` plays no part."""
    return_to_go: bool = True
    """Reward of a round: the return from it on, or its own reward alone (false, the paper's)."""
    discount: float = 1.0
    """Discount factor gamma of the return, for each later round of the seat; of a whole episode nothing is
    discounted."""
    normalize_std: bool = True
    """Division by the standard deviation of the group."""
    leave_one_out: bool = False
    """Baseline of a round: its mean over the other rollouts of the group."""
    std_epsilon: float = 1e-4
    """Constant epsilon that is added to the standard deviation."""
    weights: Mapping[str, float] | None = None
    """Weight of each reward term, with its sign; without weights all terms count once."""

    def __post_init__(self) -> None:
        within(None, "std_epsilon", self.std_epsilon, 1e-12)
        within(None, "discount", self.discount, 0.0, 1.0)
        if self.unit not in get_args(Unit):
            raise UnknownName("`unit` of per_round", str(self.unit), get_args(Unit))

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({"group", "round"} if self.unit == "round" else {"group"})

    @property
    def terms(self) -> frozenset[str]:
        return frozenset(self.weights or ())

    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        if self.unit == "episode":
            whole = GroupMean(
                normalize_std=self.normalize_std,
                leave_one_out=self.leave_one_out,
                std_epsilon=self.std_epsilon,
                weights=self.weights,
            )
            return whole.estimate(decisions, state)
        rounds = cells(decisions.episode, decisions.codes("round"))
        terms = {name: rounds.total(values) for name, values in decisions.weighted_terms(self.weights).items()}
        if self.return_to_go:
            episodes = cells(decisions.episode[rounds.first])
            terms = {name: returns_to_go(values, episodes, self.discount) for name, values in terms.items()}
        groups = cells(decisions.codes("group")[rounds.first], decisions.codes("round")[rounds.first])
        epsilon = self.std_epsilon if self.normalize_std else None
        estimate = group_relative(terms, groups, std_epsilon=epsilon, leave_one_out=self.leave_one_out)
        return broadcast(estimate, rounds.of)
