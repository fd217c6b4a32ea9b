"""Metric of wins."""

from __future__ import annotations

from stratagem.measure.metrics.base import Metric, Sample
from stratagem.measure.rates import rate
from stratagem.measure.statistics import Estimate
from stratagem.playing.records import Episode


class WinRate(Metric):
    """Episodes won plus half of those tied, with Wilson's interval for the effective number of episodes.

    Where more than two seats tie, each has its share.
    """

    name = "win rate"
    better = "higher"
    main = True
    unit = "share of episodes"
    null_case = "1 divided by the seats, which an equal of the opponents has"
    by_seat = True

    def measure(self, sample: Sample) -> Estimate | None:
        episodes = [episode for matchup in sample.matchups for episode in matchup.episodes]
        if not episodes or sample.game.spec.seats == 1:
            return None
        return rate(episodes, share_of_win, lambda _: 1.0, lambda episode: episode.group)

    def null(self, sample: Sample) -> float | None:
        return 1.0 / sample.game.spec.seats if sample.game.spec.seats > 1 else None


def share_of_win(episode: Episode) -> float:
    """Return one for the best payoff of all, its share for a tie, zero otherwise."""
    best = max(episode.payoffs) - 1e-9  # payoffs are sums, so equal ones may differ in the last digit
    return (episode.payoffs[episode.seat_of(0)] >= best) / sum(payoff >= best for payoff in episode.payoffs)
