"""Face of hidden roles, teams and missions."""

from __future__ import annotations

from stratagem.games.base import Json
from stratagem.games.resistance.rules import SIZES, Resistance
from stratagem.show.viewer.faces.base import STATIC
from stratagem.show.viewer.faces.states import StateFace


class ResistanceFace(StateFace):
    """Hidden roles, teams and missions."""

    module = STATIC / "face_resistance.js"
    rules = Resistance

    def board(self) -> Json:
        assert isinstance(self.game, Resistance)
        return {"sizes": SIZES[: self.game.missions]}
