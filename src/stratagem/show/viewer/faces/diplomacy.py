"""Face of Diplomacy: the map of a phase with its units, owners, orders and results.

A map without a drawing is laid out by springs. Source: Fruchterman and Reingold 1991, Graph drawing by force-directed
placement.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from stratagem.games.base import Json, State
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.diplomacy.engine import STANDARD, centers_of, powers_of
from stratagem.games.diplomacy.graph import graph_of, province
from stratagem.games.diplomacy.position import BoardPosition
from stratagem.games.diplomacy.state import DiplomacyState
from stratagem.show.viewer.faces.base import STATIC, Actions, GameFace


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
    position = BoardPosition(state.position)
    return {
        "phase": position.phase,
        "units": {power: list(position.units(power)) for power in position.powers},
        "dislodged": {
            power: position.units_to_retreat(power) for power in position.powers if position.units_to_retreat(power)
        },
        "centers": {power: list(position.centers(power)) for power in position.powers},
    }


_SIZE = 1000.0
_STEPS = 400


def is_drawn(board: str) -> bool:
    """Return whether a map has the provinces of the standard map, which has a drawing."""
    return board == STANDARD or board.startswith(f"{STANDARD}_")


@lru_cache(maxsize=8)
def layout_of(board: str) -> Json:
    """Return a place for each province, from 0 to 1000, and the pairs that lie next to each other."""
    graph = graph_of(board)
    names = sorted({province(node) for node in graph.nodes})
    pairs = sorted(
        {
            (names.index(province(node)), names.index(province(other)))
            for node, others in graph.next_to.items()
            for other in others
            if province(node) < province(other)
        }
    )
    places = _spread(len(names), np.array(pairs))
    return {
        "places": {name: [round(float(x)), round(float(y))] for name, (x, y) in zip(names, places, strict=True)},
        "pairs": [[names[first], names[second]] for first, second in pairs],
    }


def _spread(count: int, pairs: np.ndarray) -> np.ndarray:
    """Begin on a circle; neighbours attract, all repel, and the steps become shorter."""
    angles = 2 * np.pi * np.arange(count) / count
    places = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    ideal = np.sqrt(4.0 / count)
    for step in range(_STEPS):
        apart = places[:, None] - places[None]
        distance = np.maximum(np.linalg.norm(apart, axis=2), 1e-3)
        force = (apart * (ideal**2 / distance**2)[..., None]).sum(axis=1)
        pull = apart[pairs[:, 0], pairs[:, 1]] * (distance[pairs[:, 0], pairs[:, 1]] / ideal)[:, None]
        np.add.at(force, pairs[:, 0], -pull)
        np.add.at(force, pairs[:, 1], pull)
        length = np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-9)
        places = places + force / length * np.minimum(length, 0.1 * (1 - step / _STEPS))
    low, high = places.min(axis=0), places.max(axis=0)
    return np.asarray(60 + (places - low) / np.maximum(high - low, 1e-9) * (_SIZE - 120))
