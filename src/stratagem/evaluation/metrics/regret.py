"""What a player's decisions gave away, against perfect play."""

from __future__ import annotations

from stratagem.errors import CannotCompute
from stratagem.evaluation.metrics.base import Metric, Sample
from stratagem.evaluation.statistics import Estimate, mean_of
from stratagem.games.solver import Values, solve
from stratagem.play.forks import steps
from stratagem.play.records import Episode


class Regret(Metric):
    """Value of perfect play minus its value after the move, a win counting 1 and a tie .5 (SCO-PAL, section 5).

    Averaged over the hero's decisions in the game as played, then over deals and opponents. A turn without a legal
    action gives away all that stood. Games of perfect information that are small enough to be solved.
    """

    name = "regret"
    better = "lower"

    def measure(self, sample: Sample) -> Estimate | None:
        try:
            values = solve(sample.game)
            means = [bout.mean(lambda episode: _mean_regret(episode, values)) for bout in sample.bouts]
        except CannotCompute:
            return None
        return mean_of(means) if means else None


def _mean_regret(episode: Episode, values: Values) -> float:
    hero, low = episode.seat_of(0), values.game.spec.bounds[0]
    span = values.game.spec.bounds[1] - low
    given_away = []
    for state, decisions in steps(episode):
        for row in decisions:
            if row.seat == hero:
                worst = (values.value(state, hero) - low) / span
                given_away.append(worst if row.action is None else values.regrets(state)[row.action])
    return sum(given_away) / len(given_away) if given_away else 0.0
