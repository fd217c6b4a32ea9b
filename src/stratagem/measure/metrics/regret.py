"""Metric of regret of a player's decisions, against perfect play."""

from __future__ import annotations

import math

from stratagem.base.errors import CannotCompute
from stratagem.games.solver import PositionValues, solve
from stratagem.measure.metrics.base import Metric, Sample
from stratagem.measure.statistics import Estimate, ratio
from stratagem.playing.forks import steps
from stratagem.playing.records import Episode


class Regret(Metric):
    """Value of perfect play minus its value after the move, a win counting 1 and a tie .5 (SCO-PAL, section 5).

    The mean over all the agent's decisions in the games as played. The regret of a turn without a legal action is
    the whole value. Games of perfect information that are small enough to be solved.
    """

    name = "regret"
    better = "lower"
    unit = "share of the range of payoffs"

    def measure(self, sample: Sample) -> Estimate | None:
        episodes = [episode for matchup in sample.matchups for episode in matchup.episodes]
        try:
            values = solve(sample.game)
            lost = {episode.id: given_away(episode, values) for episode in episodes}
        except CannotCompute:
            return None
        asked = [episode for episode in episodes if lost[episode.id]]
        if not asked:
            return None
        return ratio(asked, lambda e: math.fsum(lost[e.id]), lambda e: len(lost[e.id]), lambda e: e.group)


def given_away(episode: Episode, values: PositionValues) -> list[float]:
    """Return the regret of each of the agent's decisions."""
    agent, (low, high) = episode.seat_of(0), values.game.spec.bounds
    regrets = []
    for state, decisions in steps(episode):
        for row in decisions:
            if row.seat == agent:
                everything = (values.value(state, agent) - low) / (high - low)
                regrets.append(everything if row.action is None else values.regrets(state)[row.action])
    return regrets
