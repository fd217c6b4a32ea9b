"""How often nothing legal was said."""

from __future__ import annotations

from stratagem.evaluation.metrics.base import Metric, Sample
from stratagem.evaluation.statistics import Estimate, wilson


class IllegalRate(Metric):
    """Turns of the hero that ended without a legal action, over all its turns, with Wilson's interval."""

    name = "illegal"
    better = "lower"

    def measure(self, sample: Sample) -> Estimate | None:
        episodes = [episode for bout in sample.bouts for episode in bout.episodes]
        turns = sum(episode.num_decisions[episode.seat_of(0)] for episode in episodes)
        illegal = sum(episode.num_illegal[episode.seat_of(0)] for episode in episodes)
        return wilson(illegal, turns) if turns else None
