"""How a power stands when a game of Diplomacy ends: the scoring set of the literature, beside the sum of squares.

The sum of squares is what the game pays. Chance levels are those of a match between equals, seats rotated; the shares
of first places depend on how often equals tie, so for these DumbBot among DumbBots, cut after 1905, is the level.
"""

from __future__ import annotations

from collections.abc import Callable

from stratagem.evaluation.metrics.base import Metric, Sample
from stratagem.evaluation.statistics import Estimate, rate, ratio
from stratagem.play.records import Episode


def ends(sample: Sample) -> list[Episode]:
    """The episodes that came to an end and told how each power stood."""
    return [episode for bout in sample.bouts for episode in bout.episodes if episode.signals.get("centers")]


def standing(episode: Episode, signal: str = "centers") -> tuple[float, list[float]]:
    """The hero's figure and those of the others."""
    values = [value or 0.0 for value in episode.signals[signal][-1]]
    own = values.pop(episode.seat_of(0))
    return own, values


class First(Metric):
    """Games that ended with as many centres as anybody had, ties included (18 % for DumbBot among its equals)."""

    name = "first"
    better = "higher"

    def measure(self, sample: Sample) -> Estimate | None:
        return _rate(sample, lambda own, others: own >= max(others) - 1e-9)


class SoleFirst(Metric):
    """Games that ended with more centres than anybody else (8 % for DumbBot among its equals)."""

    name = "sole first"
    better = "higher"

    def measure(self, sample: Sample) -> Estimate | None:
        return _rate(sample, lambda own, others: own > max(others) + 1e-9)


class Solo(Metric):
    """Games that were won alone, with 18 centres on the standard map."""

    name = "solo"
    better = "higher"

    def measure(self, sample: Sample) -> Estimate | None:
        return _rate(sample, lambda own, _: own > 0.0, "solo")


class Eliminated(Metric):
    """Games in which nothing was left, neither centres nor units."""

    name = "eliminated"
    better = "lower"

    def measure(self, sample: Sample) -> Estimate | None:
        return _rate(sample, lambda own, _: own == 0.0, "alive")


class Centres(Metric):
    """Centres at the end, the mean over games (4.65 for DumbBot among its equals; a seventh of all owned)."""

    name = "centres"
    better = "higher"
    digits = 2

    def measure(self, sample: Sample) -> Estimate | None:
        episodes, count = ends(sample), len(getattr(sample.game, "centers", ()))
        if not episodes:
            return None
        return ratio(episodes, lambda e: standing(e)[0] * count, lambda _: 1.0, lambda e: e.group)


def _rate(sample: Sample, held: Callable[[float, list[float]], bool], signal: str = "centers") -> Estimate | None:
    episodes = ends(sample)
    if not episodes:
        return None
    return rate(episodes, lambda e: float(held(*standing(e, signal))), lambda _: 1.0, lambda e: e.group)
