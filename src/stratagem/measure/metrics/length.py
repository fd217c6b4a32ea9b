"""Metric of the length of games."""

from __future__ import annotations

from dataclasses import replace

from stratagem.measure.matchups import mean_over
from stratagem.measure.metrics.base import Metric, Sample
from stratagem.measure.statistics import Estimate
from stratagem.playing.records import Episode


class Length(Metric):
    """Turns of the agent in an episode, the mean over opponents."""

    name = "length"
    better = "neither"
    digits = 2
    unit = "turns an episode"

    def measure(self, sample: Sample) -> Estimate | None:
        played = [replace(matchup, expectations=()) for matchup in sample.matchups]
        return mean_over([(each, each.mean(_turns)) for each in played], _turns, lambda _: 1.0) if played else None


def _turns(episode: Episode) -> float:
    return float(episode.num_decisions[episode.seat_of(0)])
