"""Faces of board games: grids of pieces, and the piles of nim."""

from __future__ import annotations

import re
from typing import Any

from stratagem.games.base import Game, Json, State
from stratagem.games.spiel.rules import SpielRules
from stratagem.viewer.faces.base import STATIC, GameFace
from stratagem.viewer.faces.spiel import text_of

GRIDS = {
    "tic-tac-toe": "marks",
    "connect-four": "discs",
    "breakthrough": "pawns",
    "breakthrough-6x6": "pawns",
}
"""Kinds of pieces of the games whose situation begins with a grid."""


class GridFace(GameFace):
    """Rows of a board with their labels; the text of a view begins with them."""

    module = STATIC / "face_grid.js"
    rules = SpielRules

    @classmethod
    def fits(cls, game: Game[Any]) -> bool:
        return super().fits(game) and game.spec.name in GRIDS

    def frame(self, state: State[Any]) -> Json:
        lines = state.view(0).situation.split("\n")
        columns = lines[0].split()
        rows = [line.split() for line in lines[1:]]
        board = [row for row in rows if len(row) - len(columns) in (0, 1) and all(len(cell) == 1 for cell in row)]
        return {
            "columns": columns,
            "rows": [row[0] if len(row) > len(columns) else "" for row in board],
            "cells": [row[-len(columns) :] for row in board],
            "kind": GRIDS[state.game.spec.name],
        }


class NimFace(GameFace):
    """Piles of nim, which OpenSpiel writes as `(0): 1 3 5 7`."""

    module = STATIC / "face_nim.js"
    rules = SpielRules

    def frame(self, state: State[Any]) -> Json:
        _, *piles = map(int, re.findall(r"\d+", text_of(state)))
        return {"piles": piles}
