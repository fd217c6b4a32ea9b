"""Normalised relative advantage, under the definitions that are in use; they give different numbers.

All three compare unscaled payoffs of whole episodes with every opponent of the train, exploit and collusive pools.
"""

from __future__ import annotations

from abc import abstractmethod

from stratagem.evaluation.bouts import Bout
from stratagem.evaluation.metrics.base import Metric, Sample
from stratagem.evaluation.statistics import Array, Estimate, jackknife

Scores = list[tuple[float, float]]
"""What the hero and the others (their mean) were paid in the episodes of one deal."""


class _RelativeAdvantage(Metric):
    better = "higher"

    def terms(self, scores: Scores) -> tuple[float, float]:
        """What one deal adds to the sums of its opponent: the two totals."""
        return sum(hero for hero, _ in scores), sum(other for _, other in scores)

    @abstractmethod
    def figure(self, sums: Array) -> float:
        """The definition, from the sums of the terms, a row an opponent."""

    def measure(self, sample: Sample) -> Estimate | None:
        bouts = sample.pool("train", "exploit", "collusive", "opponents")
        if sample.game.spec.seats == 1:
            return None
        strata = [[self.terms(scores) for scores in _deals(bout)] for bout in bouts]
        return jackknife(strata, self.figure) if strata else None


class NraPerMatch(_RelativeAdvantage):
    """Sum of (hero - other) over the sum of (|hero| + |other|), each episode by episode (GTBench; SEPO)."""

    name = "nra"

    def terms(self, scores: Scores) -> tuple[float, float]:
        return sum(hero - other for hero, other in scores), sum(abs(hero) + abs(other) for hero, other in scores)

    def figure(self, sums: Array) -> float:
        difference, size = sums.sum(axis=0)
        return float(difference / size) if size else 0.0


class NraOfSums(_RelativeAdvantage):
    """The hero's total less the others', over the absolute values of the two totals."""

    name = "nra-of-sums"

    def figure(self, sums: Array) -> float:
        return _relative(*sums.sum(axis=0))


class NraPerOpponent(_RelativeAdvantage):
    """The ratio of totals for each opponent by itself, then the mean over opponents."""

    name = "nra-per-opponent"

    def figure(self, sums: Array) -> float:
        return sum(_relative(hero, other) for hero, other in sums) / len(sums)


def _relative(hero: float, other: float) -> float:
    size = abs(hero) + abs(other)
    return float((hero - other) / size) if size else 0.0


def _deals(bout: Bout) -> list[Scores]:
    groups: dict[str, Scores] = {}
    for episode in bout.episodes:
        hero = episode.payoffs[episode.seat_of(0)]
        others = (sum(episode.payoffs) - hero) / (len(episode.payoffs) - 1)
        groups.setdefault(episode.group, []).append((hero, others))
    return list(groups.values())
