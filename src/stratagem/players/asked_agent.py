"""Agent that is asked for its move in a state that no table has, such as one of a simulation."""

from __future__ import annotations

from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Seat, State
from stratagem.games.key import Key
from stratagem.players.base import Ask, Move, Player


class AskedAgent:
    """Agent that is asked for its move in each simulated state."""

    kind = "its sampled moves"

    def __init__(self, agent: Player) -> None:
        self._agent = agent

    def draw(self, state: State[Any], seat: Seat, key: Key) -> str | None:
        """Ask the agent, with draws of its own."""
        traits = self._agent.traits
        seen = state if traits.sees_hidden or traits.searches else None
        move = self._agent.turn(Ask(state.view(seat), key, 0, 0, 0, seen))
        if not isinstance(move, Move):
            raise CannotCompute(
                f"{self._agent.name} answers by requests, so no state but that of a table can be its own."
            )
        return move.action if move.action in state.view(seat).choices else None
