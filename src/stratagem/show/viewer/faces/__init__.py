"""Faces of games: what a board shows at the start and after each turn, as data, and the ES module that draws it."""

from stratagem.show.viewer.faces.base import GameFace

__all__ = ["GameFace"]
