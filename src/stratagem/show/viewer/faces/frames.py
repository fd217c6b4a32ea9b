"""Frames of a replay: one for the start and one for each turn, with the module that draws them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from stratagem.base.errors import StratagemError, UnknownName
from stratagem.games.base import Game, Json, State, View
from stratagem.playing.records import Decision
from stratagem.show.viewer.faces.base import GameFace
from stratagem.show.viewer.faces.catalogue import BrokenFace, face_of, is_ours
from stratagem.show.viewer.faces.states import TextFace
from stratagem.show.viewer.sentences import sentence_of

Played = Sequence[tuple[State[Any], list[Decision]]]
"""The state before each turn with the decisions of the turn, and the last state."""
NONE: Json = {
    "face": "none", "module": None, "board": {}, "frames": [], "unit": "", "seat_names": [], "trouble": "",
}  # fmt: skip
"""Drawing of an episode that cannot be played again."""
_strangers: dict[str, bytes] = {}
"""Modules of the faces of strangers whose games have been shown."""


def draw_episode(played: Played) -> Json:
    """Return the face and the frames of a played episode; where its own face fails, its texts and the reason."""
    game: Game[Any] = played[0][0].game
    common = {"unit": game.spec.unit, "seat_names": list(game.spec.seat_names), "trouble": ""}
    try:
        face = face_of(game)
        return {**common, **_draw_frames(face, played)}
    except StratagemError as error:
        return {**common, **_draw_frames(TextFace(game), played), "trouble": sentence_of(error)}


def draw_view(view: View[Any]) -> Json | None:
    """Return the face and the frame of what one seat sees; None where the face cannot hide what the seat does not."""
    try:
        face = face_of(view.game)
        frame = face.frame_of(view) if is_ours(face) else None
    except Exception:  # noqa: BLE001 - a game of a user may have any facts, and its person has the words
        return None
    if frame is None:
        return None
    spec = view.game.spec
    shown = {"face": name_of(face), "module": module_of(face), "board": face.board(), "frames": [frame]}
    return {"unit": spec.unit, "seat_names": list(spec.seat_names), "trouble": "", **shown}


def name_of(face: GameFace) -> str:
    """Return the name of a face in the page."""
    return face.module.stem.removeprefix("face_")


def module_of(face: GameFace) -> str:
    """Return the address of the module of a face; a stranger's has the digest of its content as its name."""
    if is_ours(face):
        return f"/static/{face.module.name}"
    content = face.module.read_bytes()
    name = f"{hashlib.sha256(content).hexdigest()[:16]}.js"
    _strangers[name] = content
    return f"/faces/{name}"


def stranger(name: str) -> bytes:
    """Return the module of a stranger's face that an episode has asked for."""
    if name not in _strangers:
        raise UnknownName("face", name, ())
    return _strangers[name]


def _draw_frames(face: GameFace, played: Played) -> Json:
    """Return the frames of an episode, one more than it has turns; a stranger's may be no JSON, or fail in any way."""
    if is_ours(face) and type(face).__module__.startswith("stratagem."):
        return _drawn_by(face, played)  # a defect of ours keeps its traceback
    try:
        shown = _drawn_by(face, played)
        json.dumps(shown)
    except StratagemError:
        raise
    except Exception as error:
        raise BrokenFace(face.game, error) from error
    return shown


def _drawn_by(face: GameFace, played: Played) -> Json:
    frames = [face.frame(played[0][0])]
    for (before, rows), (after, _) in pairwise(played):
        frames.append(face.after(before, after, {row.seat: row.action for row in rows}))
    return {"face": name_of(face), "module": module_of(face), "board": face.board(), "frames": frames}
