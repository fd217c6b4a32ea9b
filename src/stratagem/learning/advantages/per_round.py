"""A round is worth what it brought more than the same round of the other rollouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from stratagem.errors import UnknownName
from stratagem.learning.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, State
from stratagem.learning.advantages.group_mean import GroupMean
from stratagem.learning.advantages.grouped import against_the_group, broadcast
from stratagem.learning.advantages.segments import cells, to_go
from stratagem.options import within

Normalise = Literal["round", "episode"]
Horizon = Literal["to_go", "round"]


@dataclass(frozen=True, kw_only=True)
class PerRound(AdvantageEstimator):
    """`A_it = (r_it - mean_i r_it) / (std_i r_it + delta)` over the rollouts i of a group, at each round t by itself.

    r is the payoff less its penalties, each times its weight: `weights = {payoff = 1, exploit = -a, ...}`. Terms are
    centred one by one, so a term that is the same in all rollouts contributes exactly 0.0, and `shares` show it.
    Reference: SEPO, eq. 3 and 4.
    What differs: r is by default what comes from the round on, not what it paid itself: a round's own payoff makes
    defection win every round of a repeated dilemma. The spread has n - 1, which the paper leaves open.
    When not: rollouts that diverge are compared in situations that are no longer alike; the longer the game, the more.
    A round that only one rollout reached brings nothing and is counted, as are rounds without variance.
    """

    normalise: Normalise = "round"
    """Whether each round is compared by itself, or whole episodes are; then the horizon plays no part."""
    horizon: Horizon = "to_go"
    """What a round is worth: all that comes from it on, or what it paid (the paper's)."""
    scale: bool = True
    """Whether to divide by the spread."""
    delta: float = 1e-4
    """What is added to the spread."""
    weights: Mapping[str, float] | None = None
    """What each term of the reward counts (SEPO's alpha, beta, gamma, with signs); without them all count once."""

    def __post_init__(self) -> None:
        within(self, "delta", self.delta, 1e-12)
        for option, kind in (("normalise", Normalise), ("horizon", Horizon)):
            _one_of(option, getattr(self, option), kind)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({"group", "round"} if self.normalise == "round" else {"group"})

    @property
    def terms(self) -> frozenset[str]:
        return frozenset(self.weights or ())

    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        if self.normalise == "episode":
            whole = GroupMean(scale=self.scale, delta=self.delta, weights=self.weights)
            return whole.estimate(decisions, state)
        rounds = cells(decisions.episode, decisions.codes("round"))
        terms = {name: rounds.total(values) for name, values in decisions.weighed(self.weights).items()}
        if self.horizon == "to_go":
            episodes = cells(decisions.episode[rounds.first])
            terms = {name: to_go(values, episodes) for name, values in terms.items()}
        groups = cells(decisions.codes("group")[rounds.first], decisions.codes("round")[rounds.first])
        return broadcast(against_the_group(terms, groups, scale=self.scale, delta=self.delta), rounds.of)


def _one_of(option: str, value: str, kind: Any) -> None:
    if value not in get_args(kind):
        raise UnknownName(f"`{option}` of per_round", str(value), get_args(kind))
