"""Player whose messages are replaced by given ones: the channel delivers those, and so does its own memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from stratagem.games.base import View
from stratagem.games.talk import MOVE, SILENT
from stratagem.players.base import Ask, Mix, Move, Player, Traits, Turn
from stratagem.players.members import WrapperPlayer


@dataclass(frozen=True)
class Replaced(WrapperPlayer):
    """Moves as another player, and says the line that is given for a turn; without one, or an illegal one, nothing.

    With no lines at every seat the channel is jammed: nothing arrives, and each seat remembers silence.
    """

    player: Player
    lines: Mapping[int, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"replaced({self.player.name})"

    @property
    def traits(self) -> Traits:
        return replace(self.player.traits, scored=False)

    def turn(self, ask: Ask) -> Turn:
        if ask.view.facts.exchange == MOVE:
            return self.player.turn(ask)
        line = self.lines.get(ask.turn, SILENT)
        return Move(line if line in ask.view.choices else SILENT)

    def policy(self, view: View[Any]) -> Mix:
        """Return the probabilities with a jammed channel; a replaced line depends on its turn, which no view tells."""
        return {SILENT: 1.0} if view.facts.exchange != MOVE else self.player.policy(view)
