"""Faces of games with dice: liar's dice and pig."""

from __future__ import annotations

import re
from typing import Any

from stratagem.games.base import Game, Json, State
from stratagem.games.spiel.rules import SpielRules
from stratagem.viewer.faces.base import STATIC, Actions, GameFace
from stratagem.viewer.faces.spiel import node_of, text_of


class LiarsDiceFace(GameFace):
    """Both dice and the bids, which OpenSpiel writes as `2 5 1-2 2-1 Liar`."""

    module = STATIC / "face_liars_dice.js"
    rules = SpielRules

    def frame(self, state: State[Any]) -> Json:
        first, second, *said = text_of(state).split()
        bids = [[int(number) for number in bid.split("-")] for bid in said if bid != "Liar"]
        return {"dice": [int(first), int(second)], "bids": bids, "called": (len(bids) % 2) if "Liar" in said else None}


class PigFace(GameFace):
    """Scores, the total of the turn, and the die that was thrown last."""

    module = STATIC / "face_pig.js"
    rules = SpielRules

    @classmethod
    def fits(cls, game: Game[Any]) -> bool:
        return super().fits(game) and game.spec.seats == 2

    def frame(self, state: State[Any]) -> Json:
        *scores, total, mover = map(int, re.findall(r"\d+", text_of(state)))
        goal = node_of(state).get_game().get_parameters().get("winscore", 100)
        return {"scores": scores, "total": total, "mover": mover, "die": None, "goal": goal}

    def after(self, before: State[Any], after: State[Any], actions: Actions) -> Json:
        thrown = node_of(after).history()[len(node_of(before).history()) + 1 :]
        rolled = "roll" in actions.values() and thrown
        return {**self.frame(after), "die": thrown[0] + 1 if rolled else None}
