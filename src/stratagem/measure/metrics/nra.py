"""Normalised relative advantage, by the definitions in use; they give different numbers.

All three compare unscaled payoffs of whole episodes with every opponent of the train, exploit and collusive pools.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace

from stratagem.measure.matchups import Matchup, on_same_deals
from stratagem.measure.metrics.base import Metric, Sample
from stratagem.measure.statistics import Array, Estimate, jackknife
from stratagem.playing.records import deals_by_key

Scores = list[tuple[float, float]]
"""Payoffs of the agent and of the others (their mean) in the episodes of one deal."""


class _RelativeAdvantage(Metric):
    better = "higher"
    unit = "ratio"

    def terms(self, scores: Scores) -> tuple[float, float]:
        """Return the terms of one deal in the sums of its opponent: the two totals."""
        return sum(agent for agent, _ in scores), sum(other for _, other in scores)

    @abstractmethod
    def figure(self, sums: Array) -> float:
        """Return the definition, from the sums of the terms, a row an opponent."""

    def measure(self, sample: Sample) -> Estimate | None:
        played = sample.pool("train", "exploit", "collusive", "opponents")
        matchups = [replace(matchup, expectations=()) for matchup in played]
        if sample.game.spec.seats == 1 or not matchups:
            return None
        strata = [self._rows(matchups, group) for group in on_same_deals(matchups)]
        return jackknife(strata, lambda sums: self.figure(sums.sum(axis=0).reshape(len(matchups), 2)))

    def _rows(self, matchups: Sequence[Matchup], group: Sequence[int]) -> list[list[float]]:
        """Return for each deal of a group the terms by matchup: two of each of all, zeros where it was not played."""
        rows: dict[str, list[float]] = {}
        deals = deals_by_key(episode for index in group for episode in matchups[index].episodes)
        for index in group:
            for deal, scores in _scores(matchups[index], deals).items():
                row = rows.setdefault(deal, [0.0] * 2 * len(matchups))
                row[2 * index : 2 * index + 2] = self.terms(scores)
        return list(rows.values())


class NraPerMatch(_RelativeAdvantage):
    """Sum of (agent - other) over the sum of (|agent| + |other|), each episode by episode (GTBench; SEPO)."""

    name = "nra"
    label = "NRA"
    explanation = "normalised relative advantage, from -1 to 1 (GTBench)"

    def terms(self, scores: Scores) -> tuple[float, float]:
        return sum(agent - other for agent, other in scores), sum(abs(agent) + abs(other) for agent, other in scores)

    def figure(self, sums: Array) -> float:
        difference, size = sums.sum(axis=0)
        return float(difference / size) if size else 0.0


class NraOfSums(_RelativeAdvantage):
    """Total of the agent less the others', over the absolute values of the two totals."""

    name = "nra-of-sums"
    label = "NRA of sums"

    def figure(self, sums: Array) -> float:
        return _relative(*sums.sum(axis=0))


class NraPerOpponent(_RelativeAdvantage):
    """Mean over opponents of the ratio of totals for each opponent."""

    name = "nra-per-opponent"
    label = "NRA per opponent"

    def figure(self, sums: Array) -> float:
        return sum(_relative(agent, other) for agent, other in sums) / len(sums)


def _relative(agent: float, other: float) -> float:
    size = abs(agent) + abs(other)
    return float((agent - other) / size) if size else 0.0


def _scores(matchup: Matchup, names: Mapping[int, str]) -> dict[str, Scores]:
    """Return the payoffs of each deal, whose names are given by key."""
    deals: dict[str, Scores] = {}
    for episode in matchup.episodes:
        agent = episode.payoffs[episode.seat_of(0)]
        others = (sum(episode.payoffs) - agent) / (len(episode.payoffs) - 1)
        deals.setdefault(names[episode.key], []).append((agent, others))
    return deals
