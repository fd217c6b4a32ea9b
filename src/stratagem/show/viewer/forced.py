"""Player whose action at one turn is given, and who plays as another before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stratagem.games.base import View
from stratagem.players.base import Ask, Mix, Move, Player, Turn
from stratagem.players.members import NamesakePlayer


@dataclass(frozen=True)
class ForcedPlayer(NamesakePlayer):
    """Plays as another player, but with a given action at one turn; it has the name of the other."""

    player: Player
    turn_number: int
    action: str | None
    """Action; None for the illegal reply that was recorded."""

    def turn(self, ask: Ask) -> Turn:
        if ask.turn == self.turn_number:
            return Move(self.action, "scripted" if self.action is not None else "illegal")
        return self.player.turn(ask)

    def policy(self, view: View[Any]) -> Mix:
        """Return the probabilities of the other player, which it has at all other turns."""
        return self.player.policy(view)
