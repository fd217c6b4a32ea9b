"""Frames of a replay: one for the start and one for each turn, with the module that draws them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from stratagem.base.errors import StratagemError, UnknownName
from stratagem.games.base import Game, Json, Seat, State, View
from stratagem.playing.forks import steps
from stratagem.playing.records import Decision, Episode
from stratagem.show.viewer.faces.base import Actions, GameFace
from stratagem.show.viewer.faces.catalogue import BrokenFace, face_of, is_ours, is_strange
from stratagem.show.viewer.faces.states import TextFace
from stratagem.show.viewer.sentences import sentence_of


class SeatAction(NamedTuple):
    """Action of a seat in a turn of a game that is still played, so that no record has it."""

    seat: Seat
    action: str | None


Played = Sequence[tuple[State[Any], Sequence[Decision | SeatAction]]]
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
    return {"unit": spec.unit, "seat_names": list(spec.seat_names), "trouble": "", "turns": [], **shown}


def draw_turn(before: State[Any] | None, after: State[Any], actions: Actions) -> Json | None:
    """Return the board after a turn of a game that hides nothing; None where the game has no face of ours."""
    rows = [SeatAction(*one) for one in actions.items()]
    try:
        shown = draw_episode([*([(before, rows)] if before is not None else []), (after, [])])
    except Exception:
        if not is_strange(after.game):
            raise  # a defect of ours keeps its traceback
        return None
    return _with_turn(shown, rows) if shown["face"] != "text" else None


def draw_end(episode: Episode, parents: Mapping[str, Episode]) -> Json | None:
    """Return the board after the last turn of a game that is over, which shows all seats."""
    try:
        played = list(steps(episode, parents))[-2:]
        rows = [SeatAction(row.seat, row.action) for row in played[0][1]]
        return _with_turn(draw_episode(played), rows, episode.rounds[-1])
    except Exception:  # noqa: BLE001 - a game of a user may fail in any way, and what was played is recorded
        return None


def _with_turn(shown: Json, rows: Sequence[SeatAction], payoffs: Sequence[float] | None = None) -> Json | None:
    """Return a drawing with the turn that led to it; None for the module of a stranger."""
    turns = [{"decisions": [row._asdict() for row in rows], "payoffs": payoffs}] * (len(shown["frames"]) - 1)
    return {**shown, "turns": turns} if shown["module"].startswith("/static/") else None


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
