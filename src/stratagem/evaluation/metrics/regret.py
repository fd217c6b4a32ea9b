"""What a player's decisions gave away, against perfect play."""

from __future__ import annotations

import math

from stratagem.errors import CannotCompute
from stratagem.evaluation.metrics.base import Metric, Sample
from stratagem.evaluation.statistics import Estimate, ratio
from stratagem.games.solver import Values, solve
from stratagem.play.forks import steps
from stratagem.play.records import Episode


class Regret(Metric):
    """Value of perfect play minus its value after the move, a win counting 1 and a tie .5 (SCO-PAL, section 5).

    The mean over all the hero's decisions in the games as played. A turn without a legal action gives away all that
    stood. Games of perfect information that are small enough to be solved.
    """

    name = "regret"
    better = "lower"

    def measure(self, sample: Sample) -> Estimate | None:
        episodes = [episode for bout in sample.bouts for episode in bout.episodes]
        try:
            values = solve(sample.game)
            lost = {episode.id: given_away(episode, values) for episode in episodes}
        except CannotCompute:
            return None
        asked = [episode for episode in episodes if lost[episode.id]]
        if not asked:
            return None
        return ratio(asked, lambda e: math.fsum(lost[e.id]), lambda e: len(lost[e.id]), lambda e: e.group)


def given_away(episode: Episode, values: Values) -> list[float]:
    """The regret of each of the hero's decisions."""
    hero, (low, high) = episode.seat_of(0), values.game.spec.bounds
    found = []
    for state, decisions in steps(episode):
        for row in decisions:
            if row.seat == hero:
                everything = (values.value(state, hero) - low) / (high - low)
                found.append(everything if row.action is None else values.regrets(state)[row.action])
    return found
