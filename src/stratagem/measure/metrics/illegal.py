"""Metric of illegal replies."""

from __future__ import annotations

from stratagem.measure.metrics.base import Metric, Sample
from stratagem.measure.rates import rate
from stratagem.measure.statistics import Estimate
from stratagem.playing.records import Episode


class IllegalRate(Metric):
    """Turns of the agent that ended without a legal action, over all its turns that were answered.

    Turns that ended with an error, such as a server's, are left out: the agent's reply is unknown. Wilson's
    interval is for the effective number of turns, by the spread between deals.
    """

    name = "illegal"
    better = "lower"
    unit = "share of turns"
    explanation = "turns without a legal action"
    main = True

    def measure(self, sample: Sample) -> Estimate | None:
        episodes = [episode for matchup in sample.matchups for episode in matchup.episodes]
        asked = [episode for episode in episodes if _count_answered(episode)]
        if not asked:
            return None
        return rate(
            asked,
            lambda episode: episode.num_illegal[episode.seat_of(0)] - _count_failed(episode),
            _count_answered,
            lambda episode: episode.group,
        )


def _count_answered(episode: Episode) -> int:
    return episode.num_decisions[episode.seat_of(0)] - _count_failed(episode)


def _count_failed(episode: Episode) -> int:
    """Return the turns of the agent whose last try ended with an error."""
    last = {row.turn: row.how for row in episode.decisions if row.seat == episode.seat_of(0)}
    return sum(how == "error" for how in last.values())
