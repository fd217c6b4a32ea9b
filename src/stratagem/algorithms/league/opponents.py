"""Opponents from the population: the learner's matchmaking rule draws a member for each other seat."""

from __future__ import annotations

from stratagem.algorithms.grpo.collector import Lineup
from stratagem.algorithms.league.member_players import MemberPlayers
from stratagem.games.key import Key
from stratagem.league.matchmaking import Lot, Matchmaker, Situation
from stratagem.league.member import Member


class PopulationOpponents:
    """Opponents with the probabilities that a rule gives the members; computed once an iteration."""

    def __init__(
        self, rule: Matchmaker, learner: Member, situation: Situation, players: MemberPlayers, others: int
    ) -> None:
        """`others` is the number of seats beside the learner's."""
        self.population = situation.population
        self.players = players
        self.others = others
        self.odds = rule.odds(learner, situation)
        self._lot = Lot(self.odds)

    def draw(self, key: Key) -> Lineup:
        """Draw a member for each other seat; only the learner's own seat is trained, also against itself."""
        names = tuple(self._lot.draw(key.at(seat)) for seat in range(self.others))
        return Lineup(names, tuple(self.players.player(self.population[name]) for name in names))
