"""Faces of games with hidden roles: the Resistance."""

from __future__ import annotations

from typing import Any

from stratagem.games.base import Json, State
from stratagem.games.resistance import SIZES, Resistance, ResistanceState
from stratagem.viewer.faces.base import STATIC, GameFace


class ResistanceFace(GameFace):
    """Roles, the team that is proposed, and every team before with its votes and FAIL cards."""

    module = STATIC / "face_resistance.js"
    rules = Resistance

    def frame(self, state: State[Any]) -> Json:
        assert isinstance(state, ResistanceState)
        shown = {"spies": state.spies, "phase": state.phase, "leader": state.leader, "team": state.team}
        past = [row._asdict() for row in state.past]
        return {**shown, "past": past, "over": state.over, "sizes": SIZES[: state.game.missions]}
