"""Faces of negotiations: demands on a pie, and on items with private values."""

from __future__ import annotations

import re
from typing import Any

from stratagem.games.base import Json, State
from stratagem.games.negotiation_v1 import Pie, PieState
from stratagem.games.negotiation_v2 import ITEMS, Division, DivisionState, fits
from stratagem.games.spiel.rules import SpielRules
from stratagem.viewer.faces.base import STATIC, GameFace
from stratagem.viewer.faces.spiel import text_of


class PieFace(GameFace):
    """The pie, and both demands of each round."""

    module = STATIC / "face_pie.js"
    rules = Pie

    def frame(self, state: State[Any]) -> Json:
        assert isinstance(state, PieState)
        demands = list(zip(*state.demands, strict=True))
        return {"pie": state.game.pie, "demands": demands, "rounds": state.game.rounds}


class DivisionFace(GameFace):
    """The pool, both seats' values, and both demands of each round."""

    module = STATIC / "face_items.js"
    rules = Division

    def frame(self, state: State[Any]) -> Json:
        assert isinstance(state, DivisionState)
        pairs = list(zip(*state.demands, strict=True))
        made = [{"bundles": pair, "by": None, "deal": fits(*pair, state.pool)} for pair in pairs]
        return {
            "items": ITEMS,
            "pool": state.pool,
            "values": state.values,
            "demands": made,
            "rounds": state.game.rounds,
        }


class BargainingFace(GameFace):
    """Pool, values and offers of OpenSpiel's bargaining, read from its text."""

    module = STATIC / "face_items.js"
    rules = SpielRules

    def frame(self, state: State[Any]) -> Json:
        pool, first, second, agreed, *offers = text_of(state).strip().split("\n")
        stock = _counts(pool)
        made = [_offer(line, stock) for line in offers if "offers" in line]
        if made:
            made[-1]["deal"] = True if agreed.endswith("1") else False if state.over else None
        values = [_counts(first), _counts(second)]
        return {"items": ITEMS, "pool": stock, "values": values, "demands": made, "rounds": None}


def _offer(line: str, pool: list[int]) -> dict[str, Any]:
    """Return an offer: what its seat takes, and what it leaves to the other."""
    seat, own = int(line[1]), _counts(line.split("offers: ")[1])
    rest = [count - taken for count, taken in zip(pool, own, strict=True)]
    return {"bundles": [own, rest] if seat == 0 else [rest, own], "by": seat, "deal": False}


def _counts(line: str) -> list[int]:
    return [int(number) for number in re.findall(r"\w: (\d+)", line)]
