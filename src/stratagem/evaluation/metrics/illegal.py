"""How often nothing legal was said."""

from __future__ import annotations

from stratagem.evaluation.metrics.base import Metric, Sample
from stratagem.evaluation.statistics import Estimate, rate


class IllegalRate(Metric):
    """Turns of the hero that ended without a legal action, over all its turns.

    Wilson's interval is for the number of turns that the deals are worth.
    """

    name = "illegal"
    better = "lower"
    unit = "share of turns"

    def measure(self, sample: Sample) -> Estimate | None:
        episodes = [episode for bout in sample.bouts for episode in bout.episodes]
        asked = [episode for episode in episodes if episode.num_decisions[episode.seat_of(0)]]
        if not asked:
            return None
        return rate(
            asked,
            lambda episode: episode.num_illegal[episode.seat_of(0)],
            lambda episode: episode.num_decisions[episode.seat_of(0)],
            lambda episode: episode.group,
        )
