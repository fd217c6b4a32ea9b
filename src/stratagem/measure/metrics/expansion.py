"""Metric of Diplomacy: growth of a power."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from stratagem.games.diplomacy.game import Diplomacy
from stratagem.measure.metrics.base import Metric, Sample
from stratagem.measure.metrics.standing import ALL_SEATS, ends, mean_by_opponent
from stratagem.measure.recorded_phases import phases
from stratagem.measure.statistics import Estimate
from stratagem.playing.records import Episode


class Expansion(Metric):
    """Change in supply centres a year: (c_T - c_0) / Y, the mean over games.

    c_0 and c_T are the centres that the agent owned when the game began and when it ended, Y is the number of Fall
    counts between.
    """

    name = "expansion"
    better = "higher"
    digits = 2
    unit = "centres a year"
    null_case = ALL_SEATS

    def measure(self, sample: Sample) -> Estimate | None:
        if not (game := _recorded_game(sample)):
            return None
        return mean_by_opponent(sample, lambda episode: yearly_change(episode, game)[episode.seat_of(0)])

    def null(self, sample: Sample) -> float | None:
        if not (game := _recorded_game(sample)):
            return None
        return fmean(change for episode in ends(sample) for change in yearly_change(episode, game))


def _recorded_game(sample: Sample) -> Diplomacy | None:
    """Return the game, if it is Diplomacy and its decisions are there."""
    episodes = ends(sample)
    there = bool(episodes) and all(episode.decisions for episode in episodes)
    return sample.moves if there and isinstance(sample.moves, Diplomacy) else None


def yearly_change(episode: Episode, game: Diplomacy) -> Sequence[float]:
    """Return each seat's change in centres a year over a whole game, from its record."""
    positions = [position for position, _ in phases(episode)]
    first, last = positions[0], positions[-1]
    years = last.year - first.year + (first.kind != "A")
    owned = [(value or 0.0) * len(game.centers) for value in episode.signals["centers"][-1]]
    began = [len(first.centers(power)) for power in game.powers]
    return [(after - before) / max(1, years) for after, before in zip(owned, began, strict=True)]
