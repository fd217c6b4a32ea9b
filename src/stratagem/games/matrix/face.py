"""Face of repeated matrix games: payoffs, labels and past rounds."""

from __future__ import annotations

from stratagem.games.base import Json
from stratagem.games.matrix.rules import MatrixGame
from stratagem.show.viewer.faces.base import STATIC
from stratagem.show.viewer.faces.states import StateFace


class MatrixFace(StateFace):
    """Repeated matrix games."""

    module = STATIC / "face_matrix.js"
    rules = MatrixGame
    parameters = ("payoffs", "rounds")

    def board(self) -> Json:
        assert isinstance(self.game, MatrixGame)
        return {**super().board(), "labels": [self.game.seat_labels(seat) for seat in (0, 1)]}
