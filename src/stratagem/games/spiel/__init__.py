"""OpenSpiel's games at our tables: any of them by its text, some of them by a name and a face of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from stratagem.games.spiel.bridge import SpielGame, spiel
from stratagem.games.spiel.face import Face
from stratagem.games.spiel.faces import FACES


def _face_game(face: Face, retries: int = 1) -> SpielGame:
    return SpielGame(text=face.text, face=face, retries=retries)


SPIEL_GAMES: dict[str, Callable[..., SpielGame]] = {name: partial(_face_game, face) for name, face in FACES.items()}

__all__ = ["FACES", "SPIEL_GAMES", "Face", "SpielGame", "spiel"]
