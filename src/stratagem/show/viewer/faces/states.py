"""Faces of any game: its texts, and the base of faces that need the dumped states alone."""

from __future__ import annotations

from typing import Any, ClassVar

from stratagem.games.base import Json, State
from stratagem.show.viewer.faces.base import STATIC, GameFace, situations


class TextFace(GameFace):
    """Any game without a face of its own: the situation of each seat in words, and the seats that are to act."""

    module = STATIC / "face_text.js"

    def frame(self, state: State[Any]) -> Json:
        return {"situations": situations(state), "to_act": list(state.to_act)}


class StateFace(GameFace):
    """Face that needs nothing but the dumped states."""

    parameters: ClassVar[tuple[str, ...]] = ()
    """Parameters of the game that the page needs, too."""

    def board(self) -> Json:
        return {name: getattr(self.game, name) for name in self.parameters}

    def frame(self, state: State[Any]) -> Json:
        return {"state": state.dump()}
