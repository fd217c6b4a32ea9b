"""Face of every game: the class that the game names, the one of its name or family, or its texts."""

from __future__ import annotations

from inspect import getfile
from pathlib import Path
from typing import Any

from stratagem.base.errors import StratagemError
from stratagem.base.registry import NamedCall, Registry
from stratagem.games.base import Game
from stratagem.games.catalogue import installed_part
from stratagem.games.installed import DECLARE
from stratagem.games.packages import PACKAGES
from stratagem.games.talk import talk_in, without_talk
from stratagem.show.viewer.faces.base import STATIC, GameFace, TalkFace
from stratagem.show.viewer.faces.states import TextFace
from stratagem.show.viewer.sentences import reason_of

FACES: dict[str, type[GameFace]] = {name: make for package in PACKAGES for name, make in package.parts("face").items()}
"""Faces by name or family of games."""

_PACKAGE = __name__.partition(".")[0]
REGISTRY: Registry[GameFace] = Registry("face", FACES, "stratagem.faces", instead=DECLARE)


class BrokenFace(StratagemError):
    """Face of another package or file that cannot be used."""

    def __init__(self, game: Game[object], error: object) -> None:
        reason = reason_of(error) if isinstance(error, Exception) else str(error)
        super().__init__(f"The face of {game.spec.name} cannot be used: {reason}.")


def face_of(game: Game[object]) -> GameFace:
    """Return the face of a game; its texts where neither the game nor its family has one."""
    if (talk := talk_in(game)) is not None:
        within = face_of(talk.game)
        return TextFace(talk) if isinstance(within, TextFace) else TalkFace(talk, within)
    if game.drawn_by is not None:
        return _make_face(game, game.drawn_by)
    own = installed_part("face", game)
    if own is not None and _fits(own.part, game):
        return _make_face(game, own.part)
    for name in dict.fromkeys((game.spec.name, game.spec.family)):
        if name in REGISTRY and _fits(REGISTRY.factory(name), game):
            return (
                REGISTRY.make(NamedCall(name, (game,))) if name in FACES else _make_face(game, REGISTRY.factory(name))
            )
    return TextFace(game)


def _fits(make: object, game: Game[object]) -> bool:
    """Return whether a face fits a game that has its name or its family; a function of a package fits all of these."""
    return make.fits(game) if isinstance(make, type) and issubclass(make, GameFace) else True


def is_ours(face: GameFace) -> bool:
    """Return whether the module of a face is one of the files of the pages."""
    return face.module.parent == STATIC


def is_strange(game: Game[Any]) -> bool:
    """Return whether a game is made by another package or file, which may fail in any way."""
    rules = type(without_talk(game)).__module__
    return not rules.startswith(f"{_PACKAGE}.")


def _make_face(game: Game[object], make: object) -> GameFace:
    """Make a stranger's face, and refuse one without a module."""
    try:
        face = _beside(game, make) if isinstance(make, str) else make(game)  # type: ignore[operator]
        module = face.module.resolve()
    except Exception as error:  # code of another package may raise anything
        raise BrokenFace(game, error) from error
    if not isinstance(face, GameFace):
        raise BrokenFace(game, "it is no subclass of GameFace")
    if module.suffix not in (".js", ".mjs") or not module.is_file():
        raise BrokenFace(game, f"its module {module.name} is no file that ends in .js")
    return face


def _beside(game: Game[object], name: str) -> GameFace:
    """Return the face whose module stands beside the file of a game's class."""
    face = GameFace(game)
    face.module = Path(getfile(type(game))).with_name(name)
    return face
