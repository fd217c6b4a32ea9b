"""Face of any game without one of its own: what each seat reads."""

from __future__ import annotations

from typing import Any

from stratagem.games.base import Json, State
from stratagem.viewer.faces.base import STATIC, GameFace, situations


class TextFace(GameFace):
    """Situation of each seat in words, with the seats that are to act."""

    module = STATIC / "face_text.js"

    def frame(self, state: State[Any]) -> Json:
        return {"situations": situations(state), "to_act": list(state.to_act)}
