"""Face of Diplomacy: the map of a phase with its units, owners, orders and results."""

from __future__ import annotations

from typing import Any

from stratagem.games.base import Json, State
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.diplomacy.engine import centers_of, powers_of
from stratagem.games.diplomacy.position import Position
from stratagem.games.diplomacy.state import DiplomacyState
from stratagem.viewer.faces.base import STATIC, Actions, GameFace
from stratagem.viewer.faces.layout import is_drawn, layout_of


class DiplomacyFace(GameFace):
    """A turn is drawn on the position in which it was ordered; the position that it led to stands beside it."""

    module = STATIC / "face_diplomacy.js"
    rules = Diplomacy

    def board(self) -> Json:
        assert isinstance(self.game, Diplomacy)
        name = self.game.map
        return {
            "map": "standard" if is_drawn(name) else name,
            "powers": list(powers_of(name)),
            "centers": sorted(centers_of(name)),
            "layout": None if is_drawn(name) else layout_of(name),
        }

    def frame(self, state: State[Any]) -> Json:
        assert isinstance(state, DiplomacyState)
        return {"position": _position(state), "orders": [], "result": None}

    def after(self, before: State[Any], after: State[Any], actions: Actions) -> Json:
        assert isinstance(before, DiplomacyState)
        assert isinstance(after, DiplomacyState)
        _, lines = after.log[len(before.log)]
        orders = [{"power": power, "order": line, "codes": list(codes)} for power, line, codes in lines]
        return {"position": _position(before), "orders": orders, "result": _position(after)}


def _position(state: DiplomacyState) -> Json:
    """Return units, dislodged units and owners of centres by power."""
    position = Position(state.position)
    return {
        "phase": position.phase,
        "units": {power: list(position.units(power)) for power in position.powers},
        "dislodged": {power: position.dislodged(power) for power in position.powers if position.dislodged(power)},
        "centers": {power: list(position.centers(power)) for power in position.powers},
    }
