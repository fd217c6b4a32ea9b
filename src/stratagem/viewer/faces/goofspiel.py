"""Face of goofspiel: both hands, the prizes so far, and the points."""

from __future__ import annotations

import re
from typing import Any

from stratagem.games.base import Game, Json, State
from stratagem.games.spiel.rules import SpielRules
from stratagem.viewer.faces.base import STATIC, GameFace
from stratagem.viewer.faces.spiel import text_of

_LINE = re.compile(r"^([^:\n]+):(.*)$", re.M)
_NUMBER = re.compile(r"\d+")


class GoofspielFace(GameFace):
    """Lines of OpenSpiel's text: hands, `Point card sequence`, `Points`."""

    module = STATIC / "face_goofspiel.js"
    rules = SpielRules

    @classmethod
    def fits(cls, game: Game[Any]) -> bool:
        return super().fits(game) and game.spec.seats == 2

    def frame(self, state: State[Any]) -> Json:
        told = {name: [int(number) for number in _NUMBER.findall(rest)] for name, rest in _LINE.findall(text_of(state))}
        hands = [told[f"P{seat} hand"] for seat in range(state.game.spec.seats)]
        return {"hands": hands, "prizes": told["Point card sequence"], "points": told["Points"]}
