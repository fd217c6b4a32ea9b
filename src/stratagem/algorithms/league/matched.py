"""Opponents from the population: for each other seat the learner's rule draws somebody."""

from __future__ import annotations

from stratagem.algorithms.grpo.collector import Lineup
from stratagem.algorithms.league.seats import Seats
from stratagem.games.key import Key
from stratagem.league.matchmaking import Lot, Matchmaker, Situation
from stratagem.league.member import Member


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
