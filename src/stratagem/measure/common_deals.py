"""Payoffs of several agents deal by deal, on the deals that all of them played: what their differences are taken of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from stratagem.games.base import Seat
from stratagem.measure.matchups import Matchup, num_rounds, payoff_of
from stratagem.playing.records import Episode

Bout = tuple[str, str]
"""Opponent, and number of the deal."""
Played = Mapping[tuple[str, str, Seat], Episode]
"""Episodes by opponent, number of the deal, and the agent's seat."""


def pay_on_common_deals(rows: Sequence[Sequence[Matchup]]) -> list[list[float]]:
    """Return the payoffs a round of several agents on each deal that all of them played, ordered by opponent and deal.

    Of each deal the seats count that all agents had: an interrupted record may lack some. Deals of one number are one
    only by their key: a tournament has those of the player that was named later. Opponents who play the same
    deals share an observation, weighted so that the mean over observations is that over opponents and deals. Where
    games differ in length, a deal has its linear part in the ratio of payoffs to rounds, so that these have it as mean.
    """
    played = [_by_deal_and_seat(matchups) for matchups in rows]
    places = set.intersection(*map(set, played)) if played else set()
    common = [place for place in places if len({own[place].key for own in played}) == 1]
    seats: dict[Bout, list[Seat]] = {}
    for opponent, deal, seat in sorted(common):
        seats.setdefault((opponent, deal), []).append(seat)
    deals: dict[int, list[Bout]] = {}
    for bout, some in seats.items():
        deals.setdefault(min(played[0][(*bout, seat)].key for seat in some), []).append(bout)
    weight = len(deals) / max(1, len(seats))
    payoffs = [_linear_payoffs(own, seats) for own in played]
    return [[weight * math.fsum(own[bout] for bout in bouts) for own in payoffs] for bouts in deals.values()]


def _linear_payoffs(played: Played, seats: Mapping[Bout, list[Seat]]) -> dict[Bout, float]:
    """Return the payoff a round of each deal against each opponent, as the linear part of that of all its deals.

    A deal of payoff `p` in `n` rounds has `p / m + r (1 - n / m)`, with the ratio `r` of all payoffs to all rounds and
    the mean number of rounds `m` (Cochran 1977, 6.3). Where every deal has as many rounds, that is `p / n`.
    """
    sums: dict[str, dict[Bout, tuple[float, int]]] = {}
    for bout, some in seats.items():
        over = [(played[(*bout, seat)], seat) for seat in some]
        rounds = [num_rounds(episode) for episode, _ in over]
        payoff = math.fsum(payoff_of(*one) * number for one, number in zip(over, rounds, strict=True))
        sums.setdefault(bout[0], {})[bout] = payoff, sum(rounds)
    return {bout: payoff for by_bout in sums.values() for bout, payoff in _linear(by_bout).items()}


def _linear(sums: Mapping[Bout, tuple[float, int]]) -> dict[Bout, float]:
    rounds = sum(number for _, number in sums.values())
    ratio, mean = math.fsum(payoff for payoff, _ in sums.values()) / rounds, rounds / len(sums)
    return {bout: payoff / mean + ratio * (1.0 - number / mean) for bout, (payoff, number) in sums.items()}


def _by_deal_and_seat(matchups: Iterable[Matchup]) -> Played:
    return {
        (matchup.opponent, episode.group.rpartition("/")[2], episode.seat_of(0)): episode
        for matchup in matchups
        for episode in matchup.episodes
    }
