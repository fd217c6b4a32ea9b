"""Normalised relative advantage, by the definitions in use; they give different numbers.

All three compare unscaled payoffs of whole episodes with every opponent of the train, exploit and collusive pools.
"""

from __future__ import annotations

from abc import abstractmethod

from stratagem.evaluation.matchups import Matchup
from stratagem.evaluation.metrics.base import Metric, Sample
from stratagem.evaluation.statistics import Array, Estimate, jackknife

Scores = list[tuple[float, float]]
"""Payoffs of the agent and of the others (their mean) in the episodes of one deal."""


class _RelativeAdvantage(Metric):
    better = "higher"

    def terms(self, scores: Scores) -> tuple[float, float]:
        """Return the terms of one deal in the sums of its opponent: the two totals."""
        return sum(agent for agent, _ in scores), sum(other for _, other in scores)

    @abstractmethod
    def figure(self, sums: Array) -> float:
        """Return the definition, from the sums of the terms, a row an opponent."""

    def measure(self, sample: Sample) -> Estimate | None:
        matchups = sample.pool("train", "exploit", "collusive", "opponents")
        if sample.game.spec.seats == 1:
            return None
        strata = [[self.terms(scores) for scores in _deals(matchup)] for matchup in matchups]
        return jackknife(strata, self.figure) if strata else None


class NraPerMatch(_RelativeAdvantage):
    """Sum of (agent - other) over the sum of (|agent| + |other|), each episode by episode (GTBench; SEPO)."""

    name = "nra"

    def terms(self, scores: Scores) -> tuple[float, float]:
        return sum(agent - other for agent, other in scores), sum(abs(agent) + abs(other) for agent, other in scores)

    def figure(self, sums: Array) -> float:
        difference, size = sums.sum(axis=0)
        return float(difference / size) if size else 0.0


class NraOfSums(_RelativeAdvantage):
    """Total of the agent less the others', over the absolute values of the two totals."""

    name = "nra-of-sums"

    def figure(self, sums: Array) -> float:
        return _relative(*sums.sum(axis=0))


class NraPerOpponent(_RelativeAdvantage):
    """Mean over opponents of the ratio of totals for each opponent."""

    name = "nra-per-opponent"

    def figure(self, sums: Array) -> float:
        return sum(_relative(agent, other) for agent, other in sums) / len(sums)


def _relative(agent: float, other: float) -> float:
    size = abs(agent) + abs(other)
    return float((agent - other) / size) if size else 0.0


def _deals(matchup: Matchup) -> list[Scores]:
    groups: dict[str, Scores] = {}
    for episode in matchup.episodes:
        agent = episode.payoffs[episode.seat_of(0)]
        others = (sum(episode.payoffs) - agent) / (len(episode.payoffs) - 1)
        groups.setdefault(episode.group, []).append((agent, others))
    return list(groups.values())
