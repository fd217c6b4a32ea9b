"""Diplomacy: seven powers write their orders at the same time, on the engine of the package `diplomacy`."""

from stratagem.games.diplomacy.game import Diplomacy

__all__ = ["Diplomacy"]
