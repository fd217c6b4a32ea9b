"""Agents of a multi-agent environment: names of seats, numbered actions, masks and observations of a session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from stratagem.errors import IllegalAction, UnknownName
from stratagem.games.base import Seat
from stratagem.integrations.action_numbers import ActionNumbers, numbers_of
from stratagem.integrations.choosing import Choosing
from stratagem.integrations.observations import Observing, observing
from stratagem.integrations.opponents import Opponents, opponents_of
from stratagem.integrations.session import Session, match_of
from stratagem.play.match import Match
from stratagem.players.base import Player
from stratagem.players.given import GameLike, as_game

_LISTED = 12
"""Number of legal actions that a refusal lists."""
MAX_LENGTH = 4096
"""Length of an observation in characters, by default."""


@dataclass(frozen=True)
class AgentTable:
    """Game with the seats of its agents and of its opponents, and the form in which agents see it."""

    match: Match
    agents: Mapping[str, Seat]
    """Seats by the names of their agents."""
    numbers: ActionNumbers
    observing: Observing

    def seat(self, agent: str) -> Seat:
        """Return the seat of an agent."""
        if agent not in self.agents:
            raise UnknownName(f"agent of {self.match.text}", str(agent), self.agents)
        return self.agents[agent]


def table_of(given: GameLike, opponents: Opponents | None, observation: str, max_length: int) -> AgentTable:
    """Return the table of a game; seats without an opponent are agents."""
    game = as_game(given)
    players = opponents_of(opponents, game)
    agents = {f"player_{seat}": seat for seat in range(game.spec.seats) if seat not in players}
    return AgentTable(match_of(game, players), agents, numbers_of(game), observing(observation, game, max_length))


class Agents:
    """Agents of an episode in progress."""

    def __init__(self, table: AgentTable, session: Session) -> None:
        self._table = table
        self.session = session
        self._choosing: dict[Seat, Choosing] = {}
        self._meet()

    @property
    def to_act(self) -> tuple[str, ...]:
        """Agents that have something to choose now, in the order of their seats."""
        return tuple(agent for agent, seat in self._table.agents.items() if seat in self._choosing)

    def legal(self, agent: str) -> Mapping[int, str]:
        """Return the legal actions by number; none where the agent has nothing to choose now."""
        choosing = self._choosing.get(self._table.seat(agent))
        return {} if choosing is None else self._table.numbers.numbered(choosing.view, choosing.options)

    def observation(self, agent: str) -> dict[str, Any]:
        """Return what an agent sees, and the mask of its legal actions."""
        seat = self._table.seat(agent)
        choosing = self._choosing.get(seat)
        form, mask = self._table.observing, np.zeros(self._table.numbers.size, dtype=np.int8)
        mask[list(self.legal(agent))] = 1
        seen = form(self.session.view(seat), "") if choosing is None else form(choosing.view, choosing.text)
        return {form.key: seen, "action_mask": mask}

    def check(self, agent: str, number: object) -> str:
        """Return the option of a number; one that is not legal is refused."""
        legal = self.legal(agent)
        if type(number) is bool or not isinstance(number, int | np.integer) or int(number) not in legal:
            raise IllegalAction(f"{agent} cannot play {number!r} now: its legal actions are {_listed(legal)}.")
        return legal[int(number)]

    def act(self, agent: str, number: object) -> None:
        """Play the action of a number; one that is not legal is refused and changes nothing."""
        option, seat = self.check(agent, number), self._table.seat(agent)
        action = self._choosing[seat].take(option)
        if action is not None:
            del self._choosing[seat]
            self.session.answer(seat, action)
            self._meet()

    def number_of(self, agent: str, player: Player) -> int:
        """Return the number of the action that one of our players takes in the place of an agent."""
        choosing = self._choosing.get(self._table.seat(agent))
        if choosing is None:
            raise IllegalAction(f"{agent} has nothing to choose now: {', '.join(self.to_act) or 'nobody'} has.")
        option = choosing.option_of(player)
        return next(number for number, label in self.legal(agent).items() if label == option)

    def rewards(self) -> dict[str, float]:
        """Return the payoffs since the last call, by agent."""
        payoffs = self.session.rewards()
        return {agent: payoffs[seat] for agent, seat in self._table.agents.items()}

    def _meet(self) -> None:
        for seat, ask in self.session.asks.items():
            if seat not in self._choosing:
                self._choosing[seat] = Choosing(ask)


def _listed(legal: Mapping[int, str]) -> str:
    """Return some actions with their numbers, and the number of the others."""
    shown = ", ".join(f"{number} {label!r}" for number, label in islice(legal.items(), _LISTED))
    return f"{shown} and {len(legal) - _LISTED} more" if len(legal) > _LISTED else shown or "none"
