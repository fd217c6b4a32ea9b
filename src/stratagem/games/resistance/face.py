"""Face of hidden roles, teams and missions."""

from __future__ import annotations

from stratagem.games.base import Json, View
from stratagem.games.resistance.rules import OVER, SEATS, SIZES, Resistance, ResistanceFacts
from stratagem.show.viewer.faces.base import STATIC
from stratagem.show.viewer.faces.states import StateFace


class ResistanceFace(StateFace):
    """Hidden roles, teams and missions."""

    module = STATIC / "face_resistance.js"
    rules = Resistance

    def board(self) -> Json:
        assert isinstance(self.game, Resistance)
        return {"sizes": SIZES[: self.game.missions]}

    def frame_of(self, view: View[ResistanceFacts]) -> Json:
        facts = view.facts
        public = {"phase": facts.phase, "leader": facts.leader, "team": facts.team, "past": facts.past}
        hidden = [] if facts.spies else [seat for seat in range(SEATS) if seat != facts.seat]
        return {"state": {**public, "spies": facts.spies, "hidden": hidden, "over": facts.phase == OVER}}
