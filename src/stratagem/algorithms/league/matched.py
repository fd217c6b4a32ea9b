"""Opponents from the population: for each other seat the learner's rule draws somebody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stratagem.algorithms.grpo.collector import Group, Lineup
from stratagem.algorithms.league.seats import Seats
from stratagem.games.key import Key
from stratagem.league.matchmaking import Lot, Matchmaker, Situation
from stratagem.league.member import Member
from stratagem.league.results import Results
from stratagem.play.records import Episode

_EVEN = 1e-9


class Matched:
    """Draws by what a rule made of the situation when it was asked, once an iteration."""

    def __init__(self, rule: Matchmaker, learner: Member, situation: Situation, seats: Seats, others: int) -> None:
        """`others` seats are not the learner's."""
        self.population = situation.population
        self.seats = seats
        self.others = others
        self.odds = rule.odds(learner, situation)
        self._lot = Lot(self.odds)

    def draw(self, key: Key) -> Lineup:
        """A member for each other seat; only the seat that asked for the match learns, also against itself."""
        names = tuple(self._lot.draw(key.at(seat)) for seat in range(self.others))
        return Lineup(names, tuple(self.seats.player(self.population[name]) for name in names))


class Booked(NamedTuple):
    """What an iteration brought a learner on average."""

    points: float
    """Of each it met, a draw counting half."""
    pay: float
    """A round, in the game's own unit."""


def book(results: Results, learner: str, groups: Sequence[Group], episodes: Sequence[Episode]) -> Booked:
    """Enter what the forks say of the learner and those it met."""
    forked, total, count, pay = len(episodes) // max(1, len(groups)), 0.0, 0, 0.0
    for number, episode in enumerate(episodes):
        group = groups[number // forked]
        own = episode.payoffs[group.seat]
        pay += episode.per_round(group.seat)
        for slot, name in enumerate(group.lineup.names, 1):
            points = _points(own, episode.payoffs[episode.seat_of(slot)])
            total, count = total + points, count + 1
            if name != learner:
                results.record(learner, name, points)
    return Booked(total / max(1, count), pay / max(1, len(episodes)))


def _points(own: float, other: float) -> float:
    """1 for more, 0.5 for as much, 0 for less."""
    if abs(own - other) <= _EVEN:
        return 0.5
    return float(own > other)
