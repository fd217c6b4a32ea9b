"""How often nothing legal was said."""

from __future__ import annotations

from stratagem.evaluation.metrics.base import Metric, Sample
from stratagem.evaluation.statistics import Estimate, rate
from stratagem.play.records import Episode


class IllegalRate(Metric):
    """Turns of the hero that ended without a legal action, over all its turns that were answered.

    A turn that ended with an error, such as a server's, says nothing of what the hero would have said. Wilson's
    interval is for the number of turns that the deals are worth.
    """

    name = "illegal"
    better = "lower"
    unit = "share of turns"

    def measure(self, sample: Sample) -> Estimate | None:
        episodes = [episode for bout in sample.bouts for episode in bout.episodes]
        asked = [episode for episode in episodes if _answered(episode)]
        if not asked:
            return None
        return rate(
            asked,
            lambda episode: episode.num_illegal[episode.seat_of(0)] - _failed(episode),
            _answered,
            lambda episode: episode.group,
        )


def _answered(episode: Episode) -> int:
    return episode.num_decisions[episode.seat_of(0)] - _failed(episode)


def _failed(episode: Episode) -> int:
    """Turns of the hero whose last try ended with an error."""
    last = {row.turn: row.how for row in episode.decisions if row.seat == episode.seat_of(0)}
    return sum(how == "error" for how in last.values())
