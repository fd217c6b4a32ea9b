"""Normalised relative advantage, under the definitions that are in use; they give different numbers.

All three compare unscaled payoffs of whole episodes with every opponent of the train, exploit and collusive pools.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from stratagem.evaluation.bouts import Bout
from stratagem.evaluation.metrics.base import Metric, Sample
from stratagem.evaluation.statistics import Estimate, jackknife


class Deal(NamedTuple):
    """The payoffs of the hero and of the others (their mean) in the episodes of one deal."""

    opponent: str
    scores: tuple[tuple[float, float], ...]


class _RelativeAdvantage(Metric):
    better = "higher"

    @abstractmethod
    def ratio(self, deals: Sequence[Deal]) -> float:
        """The definition."""

    def measure(self, sample: Sample) -> Estimate | None:
        deals = [deal for bout in sample.pool("train", "exploit", "collusive", "opponents") for deal in _deals(bout)]
        return jackknife(deals, self.ratio) if deals else None


class NraPerMatch(_RelativeAdvantage):
    """Sum of (hero - other) over the sum of (|hero| + |other|), both over single episodes (SEPO, after GTBench)."""

    name = "nra"

    def ratio(self, deals: Sequence[Deal]) -> float:
        scores = [score for deal in deals for score in deal.scores]
        total = sum(abs(hero) + abs(other) for hero, other in scores)
        return sum(hero - other for hero, other in scores) / total if total else 0.0


class NraOfSums(_RelativeAdvantage):
    """The hero's total less the others', over the absolute values of the two totals."""

    name = "nra-of-sums"

    def ratio(self, deals: Sequence[Deal]) -> float:
        hero = sum(score[0] for deal in deals for score in deal.scores)
        other = sum(score[1] for deal in deals for score in deal.scores)
        return (hero - other) / (abs(hero) + abs(other)) if hero or other else 0.0


class NraPerOpponent(_RelativeAdvantage):
    """The ratio of totals for each opponent by itself, then the mean over opponents."""

    name = "nra-per-opponent"

    def ratio(self, deals: Sequence[Deal]) -> float:
        by_opponent: dict[str, list[Deal]] = {}
        for deal in deals:
            by_opponent.setdefault(deal.opponent, []).append(deal)
        ratios = [NraOfSums().ratio(group) for group in by_opponent.values()]
        return sum(ratios) / len(ratios)


def _deals(bout: Bout) -> list[Deal]:
    groups: dict[str, list[tuple[float, float]]] = {}
    for episode in bout.episodes:
        hero = episode.payoffs[episode.seat_of(0)]
        others = (sum(episode.payoffs) - hero) / (len(episode.payoffs) - 1)
        groups.setdefault(episode.group, []).append((hero, others))
    return [Deal(bout.opponent, tuple(scores)) for scores in groups.values()]
