"""Metrics of the final position in Diplomacy: the scoring set of the literature, beside the sum of squares.

The sum of squares is the game's payoff. The null of each figure is its mean over all seats of the same games, so that
of an agent that plays like the others; in the sum of squares that is exactly 1 over the seats.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from statistics import fmean
from typing import ClassVar

from stratagem.games.base import Seat
from stratagem.measure.matchups import mean_over
from stratagem.measure.metrics.base import Metric, Sample
from stratagem.measure.rates import rate
from stratagem.measure.statistics import Estimate
from stratagem.playing.records import Episode

ALL_SEATS = "the mean over all seats of the same games, which an equal of the opponents has"
"""Null hypothesis of a standing."""


def ends(sample: Sample) -> list[Episode]:
    """Return the episodes that ended and recorded the standing of each power."""
    return [episode for matchup in sample.matchups for episode in matchup.episodes if episode.signals.get("centers")]


def mean_by_opponent(sample: Sample, value: Callable[[Episode], float]) -> Estimate | None:
    """Return the mean over ended games against each opponent, then over opponents, with equal weights."""
    whole = [(matchup, ends(replace(sample, matchups=(matchup,)))) for matchup in sample.matchups]
    ended = [replace(matchup, episodes=tuple(episodes), expectations=()) for matchup, episodes in whole if episodes]
    return mean_over([(each, each.mean(value)) for each in ended], value, lambda _: 1.0) if ended else None


def standing(episode: Episode, signal: str = "centers", seat: Seat | None = None) -> tuple[float, list[float]]:
    """Return a seat's figure and those of the others; the agent's by default."""
    values = [value or 0.0 for value in episode.signals[signal][-1]]
    own = values.pop(episode.seat_of(0) if seat is None else seat)
    return own, values


class _EndingShare(Metric):
    """Share of games, by a seat's standing beside the others when they ended."""

    digits = 2
    unit = "share of games"
    null_case = ALL_SEATS
    signal: ClassVar[str] = "centers"

    @abstractmethod
    def holds(self, own: float, others: list[float]) -> bool:
        """Return whether a game counts for a seat."""

    def measure(self, sample: Sample) -> Estimate | None:
        episodes = ends(sample)
        if not episodes:
            return None
        return rate(episodes, lambda e: self._of(e, e.seat_of(0)), lambda _: 1.0, lambda e: e.group)

    def null(self, sample: Sample) -> float | None:
        episodes = ends(sample)
        return fmean(self._of(e, seat) for e in episodes for seat in range(len(e.slots))) if episodes else None

    def _of(self, episode: Episode, seat: Seat) -> float:
        return float(self.holds(*standing(episode, self.signal, seat)))


class First(_EndingShare):
    """Games that ended with as many centres as anybody had, ties included."""

    name = "first"
    main = True
    better = "higher"
    by_seat = True

    def holds(self, own: float, others: list[float]) -> bool:
        return own >= max(others) - 1e-9


class SoleFirst(_EndingShare):
    """Games that ended with more centres than anybody else."""

    name = "sole first"
    main = True
    better = "higher"

    def holds(self, own: float, others: list[float]) -> bool:
        return own > max(others) + 1e-9


class Solo(_EndingShare):
    """Games that were won alone, with 18 centres on the standard map."""

    name = "solo"
    better = "higher"
    signal = "solo"

    def holds(self, own: float, others: list[float]) -> bool:
        return own > 0.0


class EliminationShare(_EndingShare):
    """Games in which nothing was left, neither centres nor units."""

    name = "eliminated"
    better = "lower"
    by_seat = True
    signal = "alive"

    def holds(self, own: float, others: list[float]) -> bool:
        return own == 0.0


class Centres(Metric):
    """Supply centres at the end, the mean over games."""

    name = "centres"
    main = True
    better = "higher"
    digits = 2
    unit = "centres"
    null_case = ALL_SEATS
    by_seat = True

    def measure(self, sample: Sample) -> Estimate | None:
        count = len(getattr(sample.moves, "centers", ()))
        return mean_by_opponent(sample, lambda episode: standing(episode)[0] * count)

    def null(self, sample: Sample) -> float | None:
        episodes, count = ends(sample), len(getattr(sample.moves, "centers", ()))
        owned = (value or 0.0 for episode in episodes for value in episode.signals["centers"][-1])
        return fmean(owned) * count if episodes else None
