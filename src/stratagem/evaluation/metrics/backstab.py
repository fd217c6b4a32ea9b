"""Metric of Diplomacy: attacks on recent partners."""

from __future__ import annotations

from stratagem.evaluation.metrics.base import Metric, Sample
from stratagem.evaluation.metrics.standing import ends
from stratagem.evaluation.partners import Attacks, attacks_on_partners
from stratagem.evaluation.rates import rate
from stratagem.evaluation.statistics import Estimate
from stratagem.games.diplomacy.game import Diplomacy
from stratagem.play.records import Episode


class Backstab(Metric):
    """Attacks on partners over all attacks: sum_t A_t(partners) / sum_t A_t(all).

    A partner supported a unit of the agent, or was supported by it, in one of the four movement phases before (two
    years), and the supported unit did what it was supported in. An attack is an order that moves, or supports a
    move, into a province where another power has a unit or whose centre it owns. A dash where the agent attacks
    nobody.
    """

    name = "backstab"
    better = "neither"
    digits = 2
    unit = "share of attacks"
    null_case = (
        "the share of partners among all whom its units could have attacked, which attacks blind to supports have"
    )

    def measure(self, sample: Sample) -> Estimate | None:
        rows = [row for row in _counts(sample) if row[1].attacks]
        if not rows:
            return None
        return rate(rows, lambda row: row[1].on_partners, lambda row: row[1].attacks, lambda row: row[0].group)

    def null(self, sample: Sample) -> float | None:
        counts = [row[1] for row in _counts(sample)]
        chances = sum(row.chances for row in counts)
        return sum(row.at_partners for row in counts) / chances if chances else None


def _counts(sample: Sample) -> list[tuple[Episode, Attacks]]:
    if not isinstance(sample.moves, Diplomacy):
        return []
    episodes = [episode for episode in ends(sample) if episode.decisions]
    return [(episode, attacks_on_partners(episode, episode.seat_of(0))) for episode in episodes]
