"""Match results for the matchmaker: one per group of branched rollouts and opponent, by the gain over the position.

All rollouts of a group start from one position, so they are one observation. A seat's score is its payoff less a
baseline. Without one, the seat with the better position at the branching point mostly wins, whatever the players do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from stratagem.games.abilities import standing_of
from stratagem.games.base import Seat, State
from stratagem.playing.records import Episode
from stratagem.training.branch_groups import Lineup
from stratagem.training.opponents.results import Results

MatchScore = Literal["gain", "payoff"]
_TIE = 1e-9
"""Payoffs are sums, so equal ones may differ in the last digit."""


class MatchedGroup(Protocol):
    """Episodes with the same players in the same seats."""

    @property
    def lineup(self) -> Lineup: ...
    @property
    def seat(self) -> Seat: ...


class IterationMeans(NamedTuple):
    """Means of one iteration of a learner."""

    points: float
    """Win rate over all opponents' seats and rollouts, a draw counting half."""
    payoff: float
    """Payoff a round, in the game's own unit."""


def baseline(position: State[Any], score: MatchScore) -> tuple[float, ...]:
    """Payoff of each seat that does not count: its standing at the branching point; 0 in games without standings."""
    standing = standing_of(position) if score == "gain" else None
    return (0.0,) * position.game.spec.seats if standing is None else standing


def book(
    results: Results,
    learner: str,
    groups: Sequence[MatchedGroup],
    baselines: Sequence[Sequence[float]],
    episodes: Sequence[Episode],
) -> IterationMeans:
    """Record one result of the learner for each group and each opponent in it; a copy of itself is none."""
    size = len(episodes) // max(1, len(groups))
    points = list[float]()
    for number, (group, base) in enumerate(zip(groups, baselines, strict=True)):
        won = group_points(group, base, episodes[number * size : (number + 1) * size])
        points += [point for some in won.values() for point in some]
        for name, some in won.items():
            if name != learner:
                results.record(learner, name, _mean(some))
    return IterationMeans(_mean(points), _mean([e.per_round(groups[n // size].seat) for n, e in enumerate(episodes)]))


def group_points(
    group: MatchedGroup, baselines: Sequence[float], episodes: Sequence[Episode]
) -> Mapping[str, list[float]]:
    """Return the learner's points against each opponent of a group, by rollout and seat."""
    points = defaultdict[str, list[float]](list)
    for episode in episodes:
        scores = [payoff - base for payoff, base in zip(episode.payoffs, baselines, strict=True)]
        for slot, name in enumerate(group.lineup.names, 1):
            points[name].append(_points(scores[group.seat], scores[episode.seat_of(slot)]))
    return points


def _points(own: float, other: float) -> float:
    """Return 1 for the higher score, 0.5 for a tie, 0 for the lower."""
    return 0.5 if abs(own - other) <= _TIE else float(own > other)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(1, len(values))
